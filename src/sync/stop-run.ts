import { skipItems } from '../database/items.ts'
import { markStopping } from '../database/runs.ts'
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
  context: Pick<SyncContext, 'database' | 'log' | 'runSignals' | 'watch'>,
  runId: string,
  as: 'failed' | 'cancelled',
  problem: string,
): Promise<boolean> {
  const isFirst = await markStopping(context.database, runId, as, problem)
  context.runSignals.abort(runId)
  await skipItems(context.database, runId, null)
  await settleRun(context, runId)
  return isFirst
}
