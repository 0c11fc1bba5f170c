import { isHandedOver } from '../../client/runs.ts'
import type { Database } from '../../core/database/pool.ts'
import type { RequestedRun } from '../../schemas/run.ts'
import { startRun } from '../../core/run/start.ts'
import { outsideTraces } from '../../base/trace.ts'
import { EXIT, exitCodeOf, reportNothingFails } from '../exit.ts'
import { note, noteNotDelivered, print, printJson } from '../output.ts'
import { followRun, progressStyle } from '../progress.ts'
import { printRun } from '../run-details.ts'
import { checkRequest, requestOf } from '../requested-scope.ts'
import type { RequestOptions } from '../scope-options.ts'
import { onSignals } from '../signals.ts'
import { withQueue } from '../with-store.ts'

/** `collab-sync enqueue`: starts a run and prints its ID; with `--wait` follows it to its end. */
export async function enqueue(
  options: RequestOptions & { wait?: boolean; json?: boolean },
): Promise<number> {
  checkRequest(options)
  const command = { name: 'enqueue', creates: true, isTraced: true }
  return withQueue(command, async ({ database }, queue, { settings: { operations } }) => {
    const request = await requestOf(database, options)
    const { runId, items } = await startRun({ database, operations }, request)
    const isDelivered = await isHandedOver(queue, items, noteNotDelivered)
    if (!options.json) print(runId)
    if (options.wait) return outsideTraces(() => wait(database, runId, options))
    if (options.json) printJson({ runId, isNew: true, isDelivered } satisfies RequestedRun)
  }).catch((error: unknown) => reportNothingFails(error, { ...options, say: note }))
}

/** The summary goes to stderr, so that stdout contains only the ID. */
async function wait(
  database: Database,
  runId: string,
  options: { json?: boolean },
): Promise<number> {
  const giveUp = new AbortController()
  const forget = onSignals(() => giveUp.abort())
  try {
    await followRun(database, runId, { style: progressStyle(options), signal: giveUp.signal })
  } catch (error) {
    if (!giveUp.signal.aborted) throw error
    note(
      `The run continues. Check it with: collab-sync status ${runId}. Cancel it with: collab-sync cancel ${runId}.`,
    )
    return EXIT.failed
  } finally {
    forget()
  }
  const { status } = await printRun(database, runId, { json: options.json, say: note })
  return exitCodeOf(status)
}
