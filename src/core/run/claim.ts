import { claimItem } from '../database/claims.ts'
import type { Claim } from '../database/claims.ts'
import * as items from '../database/statements/items.ts'
import * as runs from '../database/statements/runs.ts'
import { UsageError } from '../../base/errors.ts'
import type { RunContext } from './context.ts'
import { stopRun } from './stop.ts'

/** After so many attempts without progress an item is given up. */
export const ATTEMPTS_MAX = 8

/**
 * Claims an item of a run; the run's first item begins the run.
 * @param options.isAgain as in claimItem
 * @returns null if the item is done already, or if its run is stopping, so that it is skipped
 */
export async function startItem(
  context: RunContext,
  ids: { runId: string; itemId: number },
  options: { isAgain: boolean } = { isAgain: false },
): Promise<Claim | null> {
  const { database, deadAfterS, workerId } = context
  let claim: Claim | null
  try {
    claim = await claimItem(database, ids, workerId, options)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    // Another version made it: every retry would fail as well.
    const problem = `The request of this run cannot be read by this version of collab-sync: ${error.message}`
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

/** The batch of a claimed item. */
export function batchOf({ batchKey, operation, itemId }: Claim) {
  if (batchKey === null || operation === null) throw new Error(`Item ${itemId} has no batch.`)
  return { batchKey, operation }
}

/** Scopes a batch can hold: the width of the bit strings in `sync.run_items`. */
export const BATCH_SCOPES = 256

/** The requested and the committed scopes of a batch, as bits. */
export class DoneScopes {
  readonly #only: string | null
  #done: string

  constructor(claim: Pick<Claim, 'onlyScopes' | 'doneScopes'>) {
    this.#only = claim.onlyScopes
    this.#done = claim.doneScopes ?? '0'.repeat(BATCH_SCOPES)
  }

  /** True if the item wants the scope and no commit has done it. */
  isWanted(scopeNo: number): boolean {
    return this.#done[scopeNo] !== '1' && (this.#only === null || this.#only[scopeNo] === '1')
  }

  /** The bits with these scopes committed. */
  bitsWith(scopeNos: readonly number[]): string {
    const bits = [...this.#done]
    for (const scopeNo of scopeNos) bits[scopeNo] = '1'
    return bits.join('')
  }

  committed(bits: string): void {
    this.#done = bits
  }
}

/** Another claim committed to the batch first. Responses of this one may be outdated: they are fetched again under a new claim. */
export class SupersededError extends Error {
  override name = 'SupersededError'
}
