import * as items from '../database/statements/items.ts'
import * as runs from '../database/statements/runs.ts'
import { settleRun } from './settle-run.ts'
import type { SyncContext } from './sync-context.ts'

/**
 * Ends a run early: work in hand is given up here at once and elsewhere within a heartbeat, what was not asked is
 * skipped, what is stored stays. It is settled by whoever gives up the last of its work: here, where nobody has any.
 * @param as what becomes of it: `failed` (its credentials were refused, say) or `cancelled` (a person asked)
 * @param problem why, in one sentence for a person
 * @returns false where it is over or stopping already
 */
export async function stopRun(
  context: Pick<SyncContext, 'database' | 'deadAfterS' | 'log' | 'runSignals' | 'watch'>,
  runId: string,
  as: 'failed' | 'cancelled',
  problem: string,
): Promise<boolean> {
  const { database, deadAfterS } = context
  const stopped = await runs.stop.run(database, { runId, stopping: as, problem })
  context.runSignals.abort(runId)
  await items.skip.run(database, { runId, itemId: null, deadAfterS })
  await settleRun(context, runId)
  return stopped === 1
}
