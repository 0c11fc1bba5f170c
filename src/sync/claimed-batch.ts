import type { Claim } from '../database/claims.ts'
import type { BatchScope } from '../database/scopes.ts'
import { CallError } from '../errors.ts'
import type { Call, CallStats } from '../service/client.ts'
import { batchOf, DoneScopes } from './claim.ts'
import { BatchCommits } from './commit/batch-commits.ts'
import type { RecordCommit } from './commit/commit.ts'
import type { SyncContext } from './context.ts'
import type { Asking } from './fetch/comments.ts'
import type { AskedResult } from './fetch/result.ts'
import { askScope } from './fetch/schedule.ts'
import { isScopeFault } from './isolate.ts'

type BatchCall = Call & Required<Pick<Call, 'waitSignal' | 'priority'>>

/** What differs between the batches of a run and those of refresh. */
interface BatchOptions {
  /** Signals, priority and limits of its calls. */
  readonly call: BatchCall
  readonly seenAt?: NonNullable<Asking['seenAt']>
  readonly record: RecordCommit
  /** Waiting for PostgreSQL before the batch began, in milliseconds. */
  readonly databaseMs?: number
  /** Called with what ends the batch: a commit that failed for another reason than what was to be stored. */
  readonly onError: (error: unknown) => void
}

/** A response that could not be processed. */
interface FaultResult {
  readonly outcome: 'fault'
  readonly scope: BatchScope
  readonly error: unknown
}

/** One batch under one claim: fetches its scopes, and commits what they return. */
export class ClaimedBatch {
  readonly commits: BatchCommits
  /** Signals and counters that all its calls share. */
  readonly call: BatchCall & { readonly stats: CallStats }
  readonly #asking: Asking
  readonly #claim: Claim

  constructor(context: SyncContext, claim: Claim, options: BatchOptions) {
    const { call, databaseMs = 0, onError, record, ...seen } = options
    const { lastErasure, runId, writtenMember } = claim
    const stats = { calls: 0, retries: 0, waitedMs: 0, waitedThrottledMs: 0, serviceMs: 0 }
    const onSent = (isRetry: boolean) => context.sentCalls.add(runId, 1, isRetry ? 1 : 0)
    this.call = { ...call, stats, onSent }
    this.#claim = claim
    this.#asking = { ...context, lastErasure, writtenMember, ...seen, call: this.call }
    this.commits = new BatchCommits(context, {
      claim,
      where: batchOf(claim),
      done: new DoneScopes(claim),
      record,
      asking: this.#asking,
      stats,
      databaseMs,
      onError,
    })
  }

  /**
   * Fetches a scope. A failure that concerns this scope alone is returned.
   * @param onFailedTry called after each try that failed
   * @throws what ends the batch, such as refused credentials
   */
  async fetch(scope: BatchScope, onFailedTry?: () => void): Promise<AskedResult | FaultResult> {
    const { operation } = batchOf(this.#claim)
    try {
      return await askScope(this.#asking, operation, scope, this.#claim.scope, onFailedTry)
    } catch (error) {
      if (!isScopeFault(error)) throw error
      if (error instanceof CallError) return this.commits.failed(scope, error)
      if (this.call.waitSignal.aborted) throw error
      return { outcome: 'fault', scope, error }
    }
  }

  /** Takes a result, to be committed soon. */
  add(result: AskedResult | FaultResult): void {
    if (result.outcome === 'fault') this.commits.addFault(result.scope, result.error)
    else this.commits.add(result)
  }
}
