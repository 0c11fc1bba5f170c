import { noteAction } from '../database/actions.ts'
import { transaction } from '../database/pool.ts'
import * as items from '../database/statements/items.ts'
import * as runs from '../database/statements/runs.ts'
import * as workers from '../database/statements/workers.ts'
import type { CallError } from '../../base/errors.ts'
import type { RunContext } from './context.ts'
import { CREDENTIALS, finishRun } from './finish.ts'

/**
 * Ends a run early: work in progress is given up here at once and in other processes within a heartbeat, scopes that were not
 * fetched are skipped, and stored data is kept. The process that gives up its last work finishes the run.
 * @param as its final status: `failed` (such as for refused credentials) or `cancelled` (by a user or program)
 * @param problem why, in one sentence
 * @param of.stoppedFor set if the service could not be called
 * @param of.by the user or program that cancels it
 * @returns false if it is finished or stopping already
 */
export async function stopRun(
  context: Pick<RunContext, 'database' | 'deadAfterS' | 'log' | 'runSignals' | 'watch'>,
  runId: string,
  as: 'failed' | 'cancelled',
  problem: string,
  {
    stoppedFor = null,
    by,
  }: { stoppedFor?: 'credentials' | 'unreachable' | null; by?: string } = {},
): Promise<boolean> {
  const { database, deadAfterS } = context
  const isStopped = await transaction(database, async (client) => {
    const stop = { runId, stopping: as, problem, stoppedFor }
    if ((await runs.stop.run(client, stop)) === 0) return false
    if (by !== undefined) await noteAction(client, by, 'run_cancelled', { runId })
    return true
  })
  context.runSignals.abort(runId)
  await items.skip.run(database, { runId, itemId: null, deadAfterS })
  await finishRun(context, runId)
  return isStopped
}

/** Why a run was stopped, for the person who can fix it. */
export function refusal(error: CallError): string {
  return `The service refuses key or token: check ${CREDENTIALS}. ${error.message}`
}

/** Whether another live worker can call the service, as far as that worker knows: then the run need not stop. */
export async function canOthersCall({
  database,
  deadAfterS,
  workerId,
}: Pick<RunContext, 'database' | 'deadAfterS' | 'workerId'>): Promise<boolean> {
  const all = await workers.read.all(database, { deadAfterS })
  return all.some((other) => other.workerId !== workerId && other.alive && other.problem === null)
}
