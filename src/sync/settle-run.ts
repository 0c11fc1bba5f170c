import * as runs from '../database/statements/runs.ts'
import * as holds from '../database/statements/held.ts'
import * as rejected from '../database/statements/rejected.ts'
import { logOfRun } from '../log.ts'
import { describeSpan, withSpan } from '../trace.ts'
import { describeProblem } from './describe-problem.ts'
import type { SyncContext } from './sync-context.ts'

/**
 * Settles a run when nothing of it is pending: adds up its items and writes its status and counts, exactly once.
 * Harmless when something is pending or it is settled already.
 * @returns the status it was settled with; null where it was not
 */
export async function settleRun(
  context: Pick<SyncContext, 'database' | 'log' | 'runSignals' | 'watch'>,
  runId: string,
): Promise<string | null> {
  return withSpan('settle run', { 'collab_sync.run.id': runId }, async () => {
    const { database } = context
    const causes = await runs.causes.all(database, { runId })
    const { held } = await holds.countOfRun.one(database, { runId })
    const lost = await rejected.wholeOfRun.one(database, { runId })
    const problem = describeProblem(causes, held, lost)
    const settled = await runs.settle.first(database, { runId, problem })
    if (settled === undefined) return null
    const { status } = settled
    describeSpan({ 'collab_sync.run.status': status })
    context.runSignals.forget(runId)
    context.watch?.settled(settled)
    logOfRun(context.log, runId).info({ status }, 'run settled')
    return status
  })
}
