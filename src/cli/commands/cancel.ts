import { setTimeout as sleep } from 'node:timers/promises'
import { DEAD_AFTER_S } from '../../database/claims.ts'
import type { Database } from '../../database/pool.ts'
import { readRun } from '../../database/run-reports.ts'
import { UsageError } from '../../errors.ts'
import { readSettings } from '../../settings/settings.ts'
import { RunSignals } from '../../sync/context.ts'
import { stopRun } from '../../sync/run/settle.ts'
import { EXIT } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { describeRun, readRunDetails } from '../run-details.ts'
import { findRun } from '../scope-options.ts'
import { quietLog, withTables } from '../with-store.ts'

/** `collab-sync cancel RUN`: ends a run; what is stored stays, what was not asked is skipped. */
export async function cancel(text: string, { json }: { json?: boolean }): Promise<number> {
  const settings = readSettings(process.env, { need: ['database'] })
  const log = quietLog(settings)
  return withTables({ settings, log, name: 'cancel' }, async ({ database }) => {
    const runId = await findRun(database, text)
    const before = await readRun(database, runId)
    if (before !== null && before.finishedAt !== null) {
      throw new UsageError(`Run ${runId} is over: it ${ENDS[before.status] ?? before.status}.`)
    }
    const runSignals = new RunSignals()
    const context = { database, deadAfterS: DEAD_AFTER_S, log, runSignals }
    await stopRun(context, runId, 'cancelled', 'It was cancelled with: collab-sync cancel.')
    await untilSettled(database, runId)
    const details = await readRunDetails(database, runId)
    if (json) printJson(details)
    else print(describeRun(details))
    return EXIT.done
  })
}

/** Workers that have some of it in hand hear of it with their next heartbeat, and give it up. */
async function untilSettled(database: Database, runId: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  while (Date.now() < deadline && (await readRun(database, runId))?.finishedAt === null) {
    await sleep(POLL_MS)
  }
}

const PATIENCE_MS = 30_000
const POLL_MS = 200

const ENDS: Record<string, string> = {
  partial: 'succeeded in part',
  cancelled: 'was cancelled',
}
