import type { CallStats } from '../collab-api/client.ts'
import { skipItems } from '../database/items.ts'
import type { Claim } from '../database/claims.ts'
import { isConnectionLost } from '../database/pool.ts'
import type { BatchScope } from '../database/scopes.ts'
import { CallError, DrainingError, RunStoppedError } from '../errors.ts'
import type { Operation } from '../errors.ts'
import { withSpan } from '../trace.ts'
import type { Asking } from './ask-comments.ts'
import { askScope } from './ask-scope.ts'
import { countsSince } from './batch-counts.ts'
import { commitAnswers } from './commit.ts'
import { DoneScopes } from './done-scopes.ts'
import { logFailure } from './log-failure.ts'
import { refusal } from './refusal.ts'
import type { AskedResult } from './scope-result.ts'
import { stopRun } from './stop-run.ts'
import { SupersededError } from './superseded.ts'
import type { SyncContext } from './sync-context.ts'
import { Uncommitted } from './uncommitted.ts'

/** One claimed batch: answers come in as they come, commits go out one at a time. */
export class BatchInHand {
  readonly #context: SyncContext
  readonly #claim: Claim
  readonly #where: { batchKey: number; operation: Operation }
  readonly #done: DoneScopes
  readonly #asking: Asking
  readonly #stats: CallStats = { calls: 0, retries: 0, waitedMs: 0, serviceMs: 0 }
  #counted: CallStats = { calls: 0, retries: 0, waitedMs: 0, serviceMs: 0 }
  /** Waiting for PostgreSQL that no commit has counted yet. */
  #databaseMs: number
  readonly #uncommitted: Uncommitted
  #commits: Promise<void> = Promise.resolve()
  #isCommitDue = false
  /** The first error that ends the batch; the scopes still waiting are not asked. */
  #fatal: unknown = null
  readonly #ended = new AbortController()
  /** Ends what waits; calls in flight come to their end. */
  readonly #waitSignal: AbortSignal
  #stopping: Promise<unknown> | null = null
  /** No further answer comes: the last commit is all that is left. */
  #isAnswered = false
  /** Whether a commit that failed was made all the same shows only when the item is taken up again. */
  #isCommitUnknown = false

  constructor(
    context: SyncContext,
    claim: Claim,
    where: { batchKey: number; operation: Operation },
    done: DoneScopes,
    stopped: AbortSignal,
    databaseMs: number,
  ) {
    this.#context = context
    this.#databaseMs = databaseMs
    this.#claim = claim
    this.#uncommitted = new Uncommitted(claim.at, () => this.#commitSoon())
    this.#where = where
    this.#done = done
    this.#waitSignal = AbortSignal.any([
      stopped,
      context.drained,
      context.storeSignal.signal,
      this.#ended.signal,
    ])
    this.#asking = {
      collabApi: context.collabApi,
      database: context.database,
      maxIds: context.maxIds,
      privacy: context.privacy,
      lastErasure: claim.lastErasure,
      call: {
        stats: this.#stats,
        room: (waitSignal) => this.#uncommitted.room(waitSignal),
        signal: stopped,
        waitSignal: this.#waitSignal,
      },
    }
  }

  /**
   * Asks for the scopes and commits what comes.
   * @throws SupersededError where another run wrote to the batch; DrainingError when the worker is stopping
   */
  async sync(scopes: readonly BatchScope[]): Promise<void> {
    try {
      await this.#askAll(scopes)
      this.#isAnswered = true
      await this.#commits
      if (this.#fatal !== null) return await this.#giveUp(this.#fatal)
      await this.#commit(true)
    } finally {
      this.#uncommitted.close()
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
      if (this.#fatal === null) this.#add(await this.#ask(scope, triesAgain))
    } catch (error) {
      if (error instanceof CallError && error.kind !== 'credentials') {
        logFailure(this.#context.log, this.#where.operation, scope, error)
        this.#add({ outcome: 'failed', scope, error })
      } else {
        this.#end(error)
      }
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

  #add(result: AskedResult): void {
    this.#uncommitted.add(result)
    if (this.#uncommitted.isDue) this.#commitSoon()
  }

  /** One commit at a time waits for the one before it; it takes all that was answered until it begins. */
  #commitSoon(): void {
    if (this.#isCommitDue || this.#isAnswered) return
    this.#isCommitDue = true
    this.#commits = this.#commits.then(() => {
      this.#isCommitDue = false
      return this.#commitSafely()
    })
  }

  async #commitSafely(): Promise<void> {
    const isNothingNew = this.#uncommitted.isEmpty && this.#stats.calls === this.#counted.calls
    if (isNothingNew || this.#isCommitUnknown) return
    try {
      await this.#commit(false)
    } catch (error) {
      this.#isCommitUnknown = true
      this.#end(error)
      if (isConnectionLost(error)) this.#context.storeSignal.lost(error)
    }
  }

  /** Nothing of a commit that fails counts as done: its answers are asked for again. */
  async #commit(isEnd: boolean): Promise<void> {
    const { answers, newThreads, over } = this.#uncommitted.take()
    const stats = { ...this.#stats }
    const counts = countsSince(this.#counted, stats, this.#databaseMs)
    const { database, shrinkLimit } = this.#context
    const committing = { claim: this.#claim, ...this.#where, shrinkLimit, newThreads, counts }
    const doneScopes = this.#done.bitsWith(answers.map(({ scope }) => scope.scopeNo))
    await withSpan('commit', { 'collab_sync.scopes': answers.length }, () =>
      commitAnswers(database, committing, answers, { doneScopes, isEnd }),
    ).finally(over)
    this.#context.watch?.committed(this.#where.operation, counts)
    this.#databaseMs = 0
    this.#done.committed(doneScopes)
    this.#counted = stats
  }

  /** What was answered before the end is true, and is kept where it can be, with the calls that were made. */
  async #giveUp(error: unknown): Promise<void> {
    if (error instanceof SupersededError) throw error
    await this.#stopping
    await this.#commitSafely()
    if (this.#stopping !== null || error instanceof RunStoppedError) {
      const { runId, itemId } = this.#claim
      return skipItems(this.#context.database, runId, itemId)
    }
    if (this.#context.drained.aborted) throw new DrainingError('The worker is stopping.')
    throw error
  }
}
