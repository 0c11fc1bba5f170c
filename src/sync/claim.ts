import { claimItem, commitItem, noCounts } from '../database/claims.ts'
import type { Claim, Counts } from '../database/claims.ts'
import { insertFailures } from '../database/failures.ts'
import { transaction } from '../database/pool.ts'
import type { Database } from '../database/pool.ts'
import { keepCheck, readScopes } from '../database/scopes.ts'
import type { BatchScope } from '../database/scopes.ts'
import * as items from '../database/statements/items.ts'
import * as runs from '../database/statements/runs.ts'
import { CallError, UsageError } from '../errors.ts'
import type { SyncContext } from './context.ts'
import { stopRun } from './run/settle.ts'

/** An item that took so many workers down with it, or failed so often without progress, is given up. */
export const ATTEMPTS_MAX = 8

/**
 * Takes up an item of a run; the run's first item begins the run.
 * @param options.isAgain as in claimItem
 * @returns null where there is nothing to do: it is done already, or its run is stopping, and is then skipped
 */
export async function startItem(
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

/**
 * Gives up an item that workers have died of again and again: what is left of it fails, and the run can end.
 * @throws SupersededError where another claim has written to the batch
 */
export async function failItem(context: SyncContext, claim: Claim): Promise<void> {
  const { runId } = claim
  const where = batchOf(claim)
  const scopes = await readWanted(context.database, claim)
  const error = new CallError(
    `Workers took this batch up ${claim.attempts} times without progress. Look for the cause in their logs, then run the failed scopes again.`,
    { kind: 'refused', errorStatus: 'worker_died' },
  )
  const counts: Counts = { ...noCounts(), scopesFailed: scopes.length }
  await transaction(context.database, async (client) => {
    const failures = scopes.map((scope) => ({ scope, error }))
    await insertFailures(client, { runId, ...where }, failures)
    await keepCheck(client, scopes, { isFailing: true, at: claim.at })
    const isCommitted = await commitItem(client, {
      claim,
      counts,
      doneScopes: new DoneScopes(claim).bitsWith(scopes.map(({ scopeNo }) => scopeNo)),
      isEnd: true,
    })
    if (!isCommitted) throw new SupersededError()
  })
}

/** The batch of a claimed item. */
export function batchOf({ batchKey, operation, itemId }: Claim) {
  if (batchKey === null || operation === null) throw new Error(`Item ${itemId} has no batch.`)
  return { batchKey, operation }
}

/** The scopes of a claimed batch that are wanted and not committed yet. */
export async function readWanted(database: Database, claim: Claim): Promise<BatchScope[]> {
  const { batchKey, operation } = batchOf(claim)
  const done = new DoneScopes(claim)
  const scopes = await readScopes(database, batchKey, operation)
  return scopes.filter(({ scopeNo }) => done.isWanted(scopeNo))
}

/** Scopes a batch can hold: the width of the bit strings in `sync.run_items`. */
export const BATCH_SCOPES = 256

/** Which scopes of a batch are wanted and which are committed, as bits. */
export class DoneScopes {
  readonly #only: string | null
  #done: string

  constructor(claim: Pick<Claim, 'onlyScopes' | 'doneScopes'>) {
    this.#only = claim.onlyScopes
    this.#done = claim.doneScopes ?? '0'.repeat(BATCH_SCOPES)
  }

  /** True where the scope is asked for by the item and not committed yet. */
  isWanted(scopeNo: number): boolean {
    return this.#done[scopeNo] !== '1' && (this.#only === null || this.#only[scopeNo] === '1')
  }

  /** The bits as they will be once these scopes are committed too. */
  bitsWith(scopeNos: readonly number[]): string {
    const bits = [...this.#done]
    for (const scopeNo of scopeNos) bits[scopeNo] = '1'
    return bits.join('')
  }

  /** Takes the bits over, once they are committed. */
  committed(bits: string): void {
    this.#done = bits
  }
}

/**
 * Another claim has written to the batch while this work was in hand: answers may be older than what is stored, or were
 * compared with what is stored no more, so they are thrown away and asked again under a new claim.
 */
export class SupersededError extends Error {
  override name = 'SupersededError'
}
