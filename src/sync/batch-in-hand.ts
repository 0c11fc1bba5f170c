import type { Claim } from '../database/claims.ts'
import type { BatchScope } from '../database/scopes.ts'
import * as items from '../database/statements/items.ts'
import { CallError, DrainingError, RunStoppedError } from '../errors.ts'
import type { Operation } from '../errors.ts'
import type { Asking } from './ask-comments.ts'
import { askScope } from './ask-scope.ts'
import { BatchCommits } from './batch-commits.ts'
import type { DoneScopes } from './done-scopes.ts'
import { isScopeFault } from './isolate.ts'
import { refusal } from './refusal.ts'
import type { AskedResult } from './scope-result.ts'
import { stopRun } from './stop-run.ts'
import { SupersededError } from './superseded.ts'
import type { SyncContext } from './sync-context.ts'

/** One claimed batch: its scopes are asked for, many at a time, until all are or something ends it. */
export class BatchInHand {
  readonly #context: SyncContext
  readonly #claim: Claim
  readonly #where: { batchKey: number; operation: Operation }
  readonly #asking: Asking
  readonly #commits: BatchCommits
  /** The first error that ends the batch; the scopes still waiting are not asked. */
  #fatal: unknown = null
  readonly #ended = new AbortController()
  /** Ends what waits; calls in flight come to their end. */
  readonly #waitSignal: AbortSignal
  #stopping: Promise<unknown> | null = null

  constructor(
    context: SyncContext,
    claim: Claim,
    where: { batchKey: number; operation: Operation },
    done: DoneScopes,
    stopped: AbortSignal,
    databaseMs: number,
  ) {
    this.#context = context
    this.#claim = claim
    this.#where = where
    this.#waitSignal = AbortSignal.any([
      stopped,
      context.drained,
      context.storeSignal.signal,
      this.#ended.signal,
    ])
    const { collabApi, database, maxIds, privacy } = context
    const stats = { calls: 0, retries: 0, waitedMs: 0, serviceMs: 0 }
    const onSent = (isRetry: boolean) => context.sentCalls.add(claim.runId, 1, isRetry ? 1 : 0)
    const call = { stats, onSent, signal: stopped, waitSignal: this.#waitSignal }
    // A commit that asks waits for no room: room is made by commits.
    const asking = { collabApi, database, maxIds, privacy, lastErasure: claim.lastErasure, call }
    this.#commits = new BatchCommits(context, {
      claim,
      where,
      done,
      asking,
      stats,
      databaseMs,
      onError: (error) => this.#end(error),
    })
    const room = (signal?: AbortSignal) => this.#commits.room(signal)
    this.#asking = { ...asking, call: { ...call, room } }
  }

  /**
   * Asks for the scopes and commits what comes.
   * @throws SupersededError where another run wrote to the batch; DrainingError when the worker is stopping
   */
  async sync(scopes: readonly BatchScope[]): Promise<void> {
    try {
      await this.#askAll(scopes)
      await this.#commits.answered()
      if (this.#fatal !== null) return await this.#giveUp(this.#fatal)
      await this.#commits.commitEnd()
    } finally {
      this.#commits.close()
    }
  }

  async #askAll(scopes: readonly BatchScope[]): Promise<void> {
    const { scopePlaces } = this.#context
    try {
      await scopePlaces.each(scopes, this.#waitSignal, (scope, triesAgain) =>
        this.#syncScope(scope, triesAgain),
      )
    } catch (error) {
      this.#end(error)
    }
  }

  async #syncScope(scope: BatchScope, triesAgain: () => void): Promise<void> {
    try {
      if (this.#fatal === null) this.#commits.add(await this.#ask(scope, triesAgain))
    } catch (error) {
      const isFault = isScopeFault(error)
      if (isFault && error instanceof CallError)
        this.#commits.add(this.#commits.failed(scope, error))
      else if (isFault && !this.#waitSignal.aborted) this.#commits.addFault(scope, error)
      else this.#end(error)
    }
  }

  #end(error: unknown): void {
    this.#fatal ??= error
    this.#ended.abort(error)
    // No call of this run can succeed: those of its other batches are given up at once.
    if (error instanceof CallError) {
      this.#stopping ??= stopRun(this.#context, this.#claim.runId, 'failed', refusal(error))
      // It is awaited when the calls in flight have ended; until then its failure must not be nobody's.
      this.#stopping.catch(() => {})
    }
  }

  #ask(scope: BatchScope, triesAgain: () => void): Promise<AskedResult> {
    const call = { ...this.#asking.call, onFailedTry: triesAgain }
    return askScope({ ...this.#asking, call }, this.#where.operation, scope, this.#claim.scope)
  }

  /** What was answered before the end is true, and is kept where it can be, with the calls that were made. */
  async #giveUp(error: unknown): Promise<void> {
    if (error instanceof SupersededError) throw error
    await this.#stopping
    await this.#commits.commitRest()
    if (this.#stopping !== null || error instanceof RunStoppedError) {
      const { database, deadAfterS } = this.#context
      const { runId, itemId } = this.#claim
      await items.skip.run(database, { runId, itemId, deadAfterS })
      return
    }
    if (this.#context.drained.aborted) throw new DrainingError('The worker is stopping.')
    throw error
  }
}
