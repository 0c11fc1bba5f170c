import { countHeld } from '../database/held.ts'
import { readFailureCauses, settle } from '../database/runs.ts'
import { describeProblem } from './describe-problem.ts'
import type { SyncContext } from './sync-context.ts'

/**
 * Settles a run when nothing of it is pending: adds up its items and writes its status and counts, exactly once.
 * Harmless when something is pending or it is settled already.
 * @returns the status it was settled with; null where it was not
 */
export async function settleRun(
  context: Pick<SyncContext, 'database' | 'log' | 'runSignals'>,
  runId: string,
): Promise<string | null> {
  const causes = await readFailureCauses(context.database, runId)
  const held = await countHeld(context.database, runId)
  const status = await settle(context.database, runId, describeProblem(causes, held))
  if (status !== null) {
    context.runSignals.forget(runId)
    context.log.info({ runId, status }, 'run settled')
  }
  return status
}
