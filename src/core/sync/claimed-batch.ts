import { noCounts } from '../../documents/counts.ts'
import type { Counts } from '../../documents/counts.ts'
import { isConnectionLost, rolledBack } from '../database/pool.ts'
import type { BatchScope } from '../database/scopes.ts'
import { CallError, DrainingError, RunStoppedError } from '../../base/errors.ts'
import type { Call, CallStats } from '../service/client.ts'
import { withSpan } from '../../base/trace.ts'
import { batchOf, DoneScopes } from '../run/claim.ts'
import { Uncommitted } from './commit/buffer.ts'
import { commitAnswers, writeResults } from './commit/commit.ts'
import type { RecordCommit } from './commit/commit.ts'
import type { RuledClaim, SyncContext } from './context.ts'
import { countsSince, noCallStats } from './counts.ts'
import type { Fetching } from './fetch/scope.ts'
import { logFailure, logFault } from './fetch/result.ts'
import type { AskedResult, BatchResult, FailedResult } from './fetch/result.ts'
import { fetchScope } from './fetch/scope.ts'
import { failedBy, isolateRecords, isScopeFault } from './isolate.ts'

type BatchCall = Call & Required<Pick<Call, 'waitSignal' | 'priority'>>

/** What differs between the batches of a run and those of refresh. */
interface BatchOptions {
  /** Signals, priority and limits of its calls. */
  readonly call: BatchCall
  readonly seenAt?: NonNullable<Fetching['seenAt']>
  readonly record: RecordCommit
  /** Waiting for PostgreSQL before the batch began, in milliseconds. */
  readonly databaseMs?: number
  /** Called with what ends the batch: a commit that failed for another reason than what was to be stored. */
  readonly onError: (error: unknown) => void
}

/**
 * One batch under one claim: fetches its scopes and commits what they return, one commit at a time. If PostgreSQL refuses a
 * commit for its data, its halves are committed, down to one scope, whose records are then isolated.
 */
export class ClaimedBatch {
  /** Signals and counters that all its calls share. */
  readonly call: BatchCall & { readonly stats: CallStats }
  readonly #context: SyncContext
  readonly #claim: RuledClaim
  readonly #where: ReturnType<typeof batchOf>
  readonly #done: DoneScopes
  readonly #record: RecordCommit
  readonly #onError: (error: unknown) => void
  readonly #asking: Fetching
  readonly #uncommitted: Uncommitted
  #counted = noCallStats()
  /** Waiting for PostgreSQL that no commit has counted yet. */
  #databaseMs: number
  #commits: Promise<unknown> = Promise.resolve()
  #isCommitDue = false
  /** Set when a commit failed and PostgreSQL may have made it all the same. The next claim finds out. */
  #isCommitUnknown = false

  constructor(context: SyncContext, claim: RuledClaim, options: BatchOptions) {
    const { call, databaseMs = 0, onError, record, ...seen } = options
    const { rules, runId } = claim
    const onSent = (isRetry: boolean) => context.sentCalls.add(runId, 1, isRetry ? 1 : 0)
    this.call = { ...call, stats: noCallStats(), onSent }
    this.#context = context
    this.#claim = claim
    this.#where = batchOf(claim)
    this.#done = new DoneScopes(claim)
    this.#record = record
    this.#onError = onError
    this.#asking = { ...context, rules, ...seen, call: this.call }
    this.#uncommitted = new Uncommitted(context.collabApi.memory, () => this.#commitSoon())
    this.#databaseMs = databaseMs
  }

  /**
   * Fetches a scope. A failure that concerns this scope alone is returned.
   * @param onFailedTry called after each try that failed
   * @throws what ends the batch, such as refused credentials
   */
  async fetch(scope: BatchScope, onFailedTry?: () => void): Promise<BatchResult> {
    const { operation } = this.#where
    try {
      return await fetchScope(this.#asking, operation, scope, this.#claim.scope, onFailedTry)
    } catch (error) {
      if (!isScopeFault(error)) throw error
      if (error instanceof CallError) return this.#failed(scope, error)
      if (this.call.waitSignal.aborted) throw error
      return { outcome: 'fault', scope, error }
    }
  }

  /** Takes a result, to be committed soon. */
  add(result: BatchResult): void {
    if (this.#isCommitUnknown) return
    this.#uncommitted.add(result)
    if (this.#uncommitted.isDue) this.#commitSoon()
  }

  /** Waits for the commits under way. To be called when no result comes any more. */
  async answered(): Promise<void> {
    await this.#commits
  }

  /** Commits what is left, and the item's end with it. */
  commitEnd(): Promise<void> {
    return this.#inTurn(() => this.#commitTaken(true))
  }

  /** Commits what is left where it can be; the item stays pending. */
  commitRest(): Promise<void> {
    return this.#inTurn(() => this.#commitNew())
  }

  close(): void {
    this.#uncommitted.close()
  }

  #inTurn(commit: () => Promise<void>): Promise<void> {
    const made = this.#commits.then(commit)
    this.#commits = made.catch(() => {})
    return made
  }

  /** One commit at a time waits for the one before it; it takes all that was answered until it begins. */
  #commitSoon(): void {
    if (this.#isCommitDue) return
    this.#isCommitDue = true
    void this.#inTurn(() => {
      this.#isCommitDue = false
      return this.#commitNew()
    })
  }

  /** Commits what no commit has. What ends the batch is reported, not thrown. */
  async #commitNew(): Promise<void> {
    const isCounted = this.call.stats.calls === this.#counted.calls
    if (this.#isCommitUnknown || (isCounted && this.#uncommitted.isEmpty)) return
    try {
      await this.#commitTaken(false)
    } catch (error) {
      // These are thrown by calls, outside of any transaction.
      const isOfCall =
        error instanceof DrainingError ||
        error instanceof RunStoppedError ||
        error instanceof CallError
      if (!isOfCall) {
        this.#isCommitUnknown = true
        // Calls must not wait for memory that no commit gives back.
        this.close()
      }
      this.#onError(error)
      // The other batches could not commit either. Without this, each of them calls the service until its own commit fails.
      if (isConnectionLost(error))
        for (const ended of this.#context.itemsInProgress.values()) ended.abort(error)
    }
  }

  async #commitTaken(isEnd: boolean): Promise<void> {
    const { results, memory } = this.#uncommitted.take()
    try {
      await this.#commitAtOnce(results, isEnd)
    } catch (error) {
      await this.#commitInParts(results, error)
      if (isEnd) await this.#commitAtOnce([], true)
    } finally {
      memory.resize(0)
    }
  }

  /** Commits the halves of what could not be committed because of `error`, down to one scope. */
  async #commitInParts(results: readonly BatchResult[], error: unknown): Promise<void> {
    const [first] = results
    if (first === undefined || !isScopeFault(error)) throw error
    const half = results.length >> 1
    if (half === 0) return this.#commitIsolated(first.scope, error)
    for (const part of [results.slice(0, half), results.slice(half)])
      await this.#commitAtOnce(part, false).catch((again: unknown) =>
        this.#commitInParts(part, again),
      )
  }

  /** Fetches a scope again that could not be processed, and goes without the records that are the reason. */
  async #commitIsolated(scope: BatchScope, error: unknown): Promise<void> {
    logFault(this.#context.log, this.#where.operation, scope, error)
    try {
      await this.#commitAtOnce([await this.#isolated(scope)], false)
    } catch (again) {
      if (!isScopeFault(again)) throw again
      await this.#commitAtOnce([this.#failed(scope, again)], false)
    }
  }

  #isolated(scope: BatchScope): Promise<AskedResult> {
    const { scope: narrowed } = this.#claim
    return isolateRecords(this.#asking, this.#where.operation, scope, narrowed, (part) =>
      rolledBack(this.#context.database, async (client) => {
        await writeResults(client, this.#committing(noCounts()), [part])
      }),
    )
  }

  /** A scope that failed, for a reason that is logged. */
  #failed(scope: BatchScope, error: unknown): FailedResult {
    const failed = failedBy(scope, error)
    logFailure(this.#context.log, this.#where.operation, scope, failed.error)
    return failed
  }

  #committing(counts: Counts) {
    const { shrinkLimit, heldAcceptAfter } = this.#context
    return { ...this.#where, claim: this.#claim, shrinkLimit, heldAcceptAfter, counts }
  }

  async #commitAtOnce(results: readonly BatchResult[], isEnd: boolean): Promise<void> {
    const answers = results.map((result) => {
      if (result.outcome === 'fault') throw result.error
      return result
    })
    const stats = { ...this.call.stats }
    const counts = countsSince(this.#counted, stats, this.#databaseMs)
    const { database, observed, watch } = this.#context
    const committing = { ...this.#committing(counts), record: this.#record, observed }
    const doneScopes = this.#done.bitsWith(answers.map(({ scope }) => scope.scopeNo))
    await withSpan('commit', { 'collab_sync.scopes': answers.length }, () =>
      commitAnswers(database, committing, answers, { doneScopes, isEnd }),
    )
    watch?.committed(this.#where.operation, counts)
    this.#databaseMs = 0
    this.#done.committed(doneScopes)
    this.#counted = stats
  }
}
