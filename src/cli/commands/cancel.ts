import { setTimeout as sleep } from 'node:timers/promises'
import { runsOn } from '../../client/runs.ts'
import type { Database } from '../../core/database/pool.ts'
import { readRun } from '../../client/run-reports.ts'
import { processUser } from '../../base/process-user.ts'
import { printRun } from '../run-details.ts'
import { findRun } from '../requested-scope.ts'
import { withTables } from '../with-store.ts'

/** `collab-sync cancel RUN`: ends a run; what is stored stays, what was not asked is skipped. */
export async function cancel(text: string, { json }: { json?: boolean }): Promise<number> {
  return withTables({ name: 'cancel' }, async ({ database }, { log }) => {
    const runId = await findRun(database, text)
    await runsOn({ database, log, by: processUser() }).cancelRun(runId)
    await untilSettled(database, runId)
    await printRun(database, runId, { json })
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
