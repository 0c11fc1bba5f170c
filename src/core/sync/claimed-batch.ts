import pLimit from 'p-limit'
import { noCounts } from '../../schemas/counts.ts'
import type { Counts } from '../../schemas/counts.ts'
import { isConnectionLost } from '../database/connection-errors.ts'
import { rolledBack } from '../database/pool.ts'
import { readScopes } from '../database/scopes.ts'
import type { BatchScope } from '../database/scopes.ts'
import { CallError } from '../../base/errors.ts'
import type { Call, CallStats } from '../service/client.ts'
import { describeSpan, withSpan } from '../../base/trace.ts'
import { batchOf } from '../run/claim.ts'
import { Uncommitted } from './commit/buffer.ts'
import { commitResponses, writeResults } from './commit/commit.ts'
import type { RecordCommit } from './commit/commit.ts'
import type { RuledClaim, SyncContext } from './context.ts'
import { countsSince, noCallStats } from './counts.ts'
import type { Fetching } from './fetch/listing.ts'
import { logFailure, logFault } from './fetch/result.ts'
import type { FetchedResult, FailedResult } from './fetch/result.ts'
import { fetchScope } from './fetch/scope.ts'
import { failedBy, isolateRecords, isScopeFault } from './isolate.ts'

/** Scopes a batch can hold: the width of the bit strings in `sync.run_items`. */
const BATCH_SCOPES = 256

type BatchCall = Call & Required<Pick<Call, 'waitSignal' | 'priority'>>

/** What differs between the batches of a run and those of continuous refresh (features/refresh). */
interface BatchOptions {
  /** Signals, priority and limits of its calls. */
  readonly call: BatchCall
  /** As in Fetching. */
  readonly seenAt?: NonNullable<Fetching['seenAt']>
  readonly record: RecordCommit
  /** Called with what ends the batch: a commit that failed for another reason than the data to be stored. */
  readonly onError: (error: unknown) => void
}

/**
 * One batch under one claim: fetches its scopes and commits the results, one commit at a time. If PostgreSQL rejects the data of
 * a commit, the results are split in half and each half is committed by itself, down to one scope. That scope is fetched again,
 * and the records that PostgreSQL rejects are left out.
 *
 * A *fault* is an error of the data or of this program that concerns one scope. A *failed* scope has no usable response.
 */
export class ClaimedBatch {
  /** Signals and counters that all its calls share. */
  readonly call: BatchCall & { readonly stats: CallStats }
  readonly #context: SyncContext
  readonly #claim: RuledClaim
  readonly #place: ReturnType<typeof batchOf>
  readonly #record: BatchOptions['record']
  readonly #onError: BatchOptions['onError']
  readonly #fetching: Fetching
  readonly #uncommitted: Uncommitted
  readonly #oneAtATime = pLimit(1)
  /** The committed scopes, as bits. */
  #doneScopes: string
  #counted = noCallStats()
  /** Time spent on reading scopes that no commit has counted yet. */
  #databaseMs = 0
  #isCommitDue = false
  /** The error of a failed commit. PostgreSQL may have made that commit all the same; the next claim finds out. */
  #commitError: { readonly error: unknown } | null = null

  constructor(context: SyncContext, claim: RuledClaim, options: BatchOptions) {
    const { call, onError, record, ...seen } = options
    const { rules, runId } = claim
    const { sentCalls } = context
    const onSent = (isRetry: boolean) =>
      sentCalls.add(runId, { calls: 1, retries: isRetry ? 1 : 0 })
    const onThrottled = (waitedThrottledMs: number) => sentCalls.add(runId, { waitedThrottledMs })
    this.call = { ...call, stats: noCallStats(), onSent, onThrottled }
    this.#context = context
    this.#claim = claim
    this.#place = batchOf(claim)
    this.#doneScopes = claim.doneScopes ?? '0'.repeat(BATCH_SCOPES)
    this.#record = record
    this.#onError = onError
    // Not the whole context: each scope copies it.
    const { collabApi, database, maxIds, observed } = context
    this.#fetching = { collabApi, database, maxIds, observed, rules, ...seen, call: this.call }
    // Commits early when the memory budget is full.
    this.#uncommitted = new Uncommitted(context.collabApi.memory, () => this.#commitSoon())
  }

  /** Reads the scopes that the claim wants and that are not committed yet. */
  async readScopes(): Promise<BatchScope[]> {
    const { batchKey, operation } = this.#place
    describeSpan({ 'collab_sync.operation': operation, 'collab_sync.batch.key': batchKey })
    const startedMs = performance.now()
    const { onlyScopes } = this.#claim
    const scopes = await readScopes(this.#context.database, batchKey, operation, onlyScopes)
    this.#databaseMs += performance.now() - startedMs
    return scopes.filter(({ scopeNo }) => this.#doneScopes[scopeNo] !== '1')
  }

  /**
   * Fetches a scope, and has its result committed soon. An error that concerns this scope alone fails it.
   * @param options.onFailedTry called after each failed try
   * @param options.isWritten whether a result is to be committed; each is where it is left out
   * @throws what ends the batch, such as refused credentials
   */
  async sync(
    scope: BatchScope,
    options: {
      readonly onFailedTry?: () => void
      readonly isWritten?: (result: FetchedResult) => boolean
    },
  ): Promise<FetchedResult> {
    const { onFailedTry, isWritten } = options
    const result = await this.#fetch(scope, onFailedTry)
    if (isWritten === undefined || isWritten(result)) this.add(result)
    return result
  }

  async #fetch(scope: BatchScope, onFailedTry?: () => void): Promise<FetchedResult> {
    try {
      return await fetchScope(
        this.#fetching,
        this.#place.operation,
        scope,
        this.#claim.scope,
        onFailedTry,
      )
    } catch (error) {
      if (!isScopeFault(error)) throw error
      if (error instanceof CallError) return this.#failed(scope, error)
      // The batch is ending: fetch nothing again.
      if (this.call.waitSignal.aborted) throw error
      return this.#isolate(scope, error)
    }
  }

  /** Takes a result, to be committed soon. After a failed commit it is dropped: the next claim fetches the scope again. */
  add(result: FetchedResult): void {
    if (this.#commitError !== null) return
    this.#uncommitted.add(result)
    if (this.#uncommitted.isDue) this.#commitSoon()
  }

  /** Waits for all commits that are due. To be called when no further result comes. */
  committed(): Promise<void> {
    return this.#oneAtATime(async () => {})
  }

  /** Commits the results that are left, and marks the item done. @throws the error of a failed commit */
  commitAndFinish(): Promise<void> {
    return this.#oneAtATime(() => this.#commit(true))
  }

  /** Commits the results that are left, if it can; the item stays pending. */
  commitRest(): Promise<void> {
    return this.#oneAtATime(() => this.#commitOrAbort())
  }

  close(): void {
    this.#uncommitted.close()
  }

  /** A commit takes all results that were added until it begins, so at most one needs to be due. */
  #commitSoon(): void {
    if (this.#isCommitDue) return
    this.#isCommitDue = true
    void this.#oneAtATime(() => {
      this.#isCommitDue = false
      return this.#commitOrAbort()
    })
  }

  /** Commits the results so far. An error ends the batch; it is reported, not thrown. */
  async #commitOrAbort(): Promise<void> {
    try {
      await this.#commit(false)
    } catch (error) {
      if (this.#commitError !== null) return
      this.#commitError = { error }
      // Calls must not wait for memory that no commit gives back.
      this.close()
      this.#onError(error)
      // The other batches could not commit either. Without this, each of them calls the service until its own commit fails.
      if (isConnectionLost(error))
        for (const ended of this.#context.itemsInProgress.values()) ended?.abort(error)
    }
  }

  async #commit(isEnd: boolean): Promise<void> {
    if (this.#commitError !== null) throw this.#commitError.error
    const { results, memory } = this.#uncommitted.take()
    try {
      await this.#commitTogether(results, isEnd)
    } catch (error) {
      await this.#commitInParts(results, error)
      if (isEnd) await this.#commitTogether([], true)
    } finally {
      memory.resize(0)
    }
  }

  /** Commits the halves of what could not be committed because of `error`, down to one scope. */
  async #commitInParts(results: readonly FetchedResult[], error: unknown): Promise<void> {
    const [first] = results
    if (first === undefined || !isScopeFault(error)) throw error
    const half = results.length >> 1
    if (half === 0) return this.#commitIsolated(first.scope, error)
    for (const part of [results.slice(0, half), results.slice(half)])
      await this.#commitTogether(part, false).catch((again: unknown) =>
        this.#commitInParts(part, again),
      )
  }

  /** Commits one scope without its bad records. The other commits of the batch wait meanwhile. */
  async #commitIsolated(scope: BatchScope, error: unknown): Promise<void> {
    const isolated = await this.#isolate(scope, error)
    try {
      await this.#commitTogether([isolated], false)
    } catch (again) {
      if (!isScopeFault(again)) throw again
      await this.#commitTogether([this.#failed(scope, again)], false)
    }
  }

  /** Fetches a scope again that could not be processed or stored, without the records that are the reason. */
  async #isolate(scope: BatchScope, error: unknown): Promise<FetchedResult> {
    logFault(this.#context.log, this.#place.operation, scope, error)
    const { database } = this.#context
    try {
      return await isolateRecords(
        this.#fetching,
        this.#place.operation,
        scope,
        this.#claim.scope,
        // A trial: whether PostgreSQL accepts this part.
        (part) =>
          rolledBack(database, async (client) => {
            await writeResults(client, this.#commitOptions(noCounts()), [part])
          }),
      )
    } catch (again) {
      if (!isScopeFault(again)) throw again
      return this.#failed(scope, again)
    }
  }

  /** A scope that failed, for a reason that is logged. */
  #failed(scope: BatchScope, error: unknown): FailedResult {
    const failed = failedBy(scope, error)
    logFailure(this.#context.log, this.#place.operation, scope, failed.error)
    return failed
  }

  async #commitTogether(results: readonly FetchedResult[], isEnd: boolean): Promise<void> {
    // Calls that are sent during the commit belong to the next one's counts.
    const stats = { ...this.call.stats }
    const counts = countsSince(this.#counted, stats, this.#databaseMs)
    const { database, observed, watch } = this.#context
    const committing = { ...this.#commitOptions(counts), record: this.#record, observed }
    const bits = [...this.#doneScopes]
    for (const { scope } of results) bits[scope.scopeNo] = '1'
    const doneScopes = bits.join('')
    await withSpan('commit', { 'collab_sync.scopes': results.length }, () =>
      commitResponses(database, committing, results, { doneScopes, isEnd }),
    )
    watch?.committed(this.#place.operation, counts)
    this.#databaseMs = 0
    this.#doneScopes = doneScopes
    this.#counted = stats
  }

  #commitOptions(counts: Counts) {
    const { shrinkLimit, heldAcceptAfter } = this.#context
    return { ...this.#place, claim: this.#claim, shrinkLimit, heldAcceptAfter, counts }
  }
}
