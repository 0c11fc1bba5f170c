import { claimItem } from '../database/claims.ts'
import type { Claim } from '../database/claims.ts'
import { codeOf, isDataFault } from '../database/connection-errors.ts'
import * as items from '../database/statements/items.ts'
import * as runs from '../database/statements/runs.ts'
import { UsageError } from '../../base/errors.ts'
import type { RunContext } from './context.ts'
import { stopRun } from './stop.ts'

/** After so many attempts without progress an item is given up. */
export const ATTEMPTS_MAX = 8

/**
 * Claims an item of a run; the run's first item begins the run.
 * @param isAgain as in claimItem
 * @returns null if the item is done already, or if its run is stopping, so that it is skipped
 */
export async function startItem(
  context: RunContext,
  ids: { runId: string; itemId: number },
  isAgain = false,
): Promise<Claim | null> {
  const { database, deadAfterS, workerId } = context
  let claim: Claim | null
  try {
    claim = await claimItem(database, ids, workerId, isAgain)
  } catch (error) {
    const problem = await problemOf(context, ids, error)
    if (problem === null) throw error
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
    // A circuit breaker that an earlier run left open must not fail scopes of this one.
    context.collabApi.startAfresh()
    context.runSignals.signalOf(ids.runId)
  }
  if (claim.runStatus === 'queued') await runs.begin.run(database, { runId: ids.runId })
  return claim
}

/** Why an error of a claim ends the run; null where the item is to be claimed again. Counts the attempt. */
async function problemOf(
  { database }: RunContext,
  ids: { runId: string; itemId: number },
  error: unknown,
): Promise<string | null> {
  const { message } = error as Error
  // Another version made it: every retry would fail as well.
  if (error instanceof UsageError)
    return `The request of this run cannot be read by this version of collab-sync: ${message}`
  // An outage ends by itself. Faults of the data, the rights and the schema come again.
  if (!isDataFault(error) && !/^(0A|26|3F|42)/.test(codeOf(error) ?? '')) return null
  const item = await items.failClaim.first(database, ids)
  if (item === undefined || item.attempts < ATTEMPTS_MAX) return null
  return `A part of this run could not be claimed in ${ATTEMPTS_MAX} attempts (${message}). Look for the cause in the workers' logs, then start another run.`
}

/** The batch of a claimed item. */
export function batchOf({ batchKey, operation, itemId }: Claim) {
  if (batchKey === null || operation === null) throw new Error(`Item ${itemId} has no batch.`)
  return { batchKey, operation }
}

/** Another claim committed to the batch first. Responses of this one may be outdated: they are fetched again under a new claim. */
export class SupersededError extends Error {
  override name = 'SupersededError'
}
