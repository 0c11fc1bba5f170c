import { claimItem } from '../database/claims.ts'
import type { Claim } from '../database/claims.ts'
import * as items from '../database/statements/items.ts'
import * as runs from '../database/statements/runs.ts'
import { UsageError } from '../errors.ts'
import { stopRun } from './stop-run.ts'
import type { SyncContext } from './sync-context.ts'

/** An item that took so many workers down with it, or failed so often without progress, is given up. */
export const ATTEMPTS_MAX = 8

/**
 * Takes up an item of a run; the run's first item begins the run.
 * @param options.isAgain as in claimItem
 * @returns null where there is nothing to do: it is done already, or its run is stopping, and is then skipped
 */
export async function takeUp(
  context: SyncContext,
  ids: { runId: string; itemId: number },
  options: { isAgain: boolean } = { isAgain: false },
): Promise<Claim | null> {
  const { database, deadAfterS, workerId } = context
  let claim: Claim | null
  try {
    claim = await claimItem(database, ids, workerId, options)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    // It was made by another version. Every other try would fail as well.
    const problem = `What this run asks for cannot be read by this version of collab-sync: ${error.message}`
    await stopRun(context, ids.runId, 'failed', problem)
    await items.skip.run(database, { ...ids, deadAfterS })
    return null
  }
  if (claim === null) return null
  if (claim.stopping !== null) {
    await items.skip.run(database, { ...ids, deadAfterS })
    return null
  }
  if (claim.attempts > ATTEMPTS_MAX && claim.kind !== 'sync-batch') {
    const problem = `A page of the catalog could not be planned in ${ATTEMPTS_MAX} attempts. Look for the cause in the workers' logs, then start another run.`
    await stopRun(context, ids.runId, 'failed', problem)
    return null
  }
  if (!context.runSignals.knows(ids.runId)) {
    // A breaker that a former run left open, in whichever process, must not fail this one's scopes unasked.
    context.collabApi.startAfresh()
    context.runSignals.signalOf(ids.runId)
  }
  if (claim.runStatus === 'queued') await runs.begin.run(database, { runId: ids.runId })
  return claim
}
