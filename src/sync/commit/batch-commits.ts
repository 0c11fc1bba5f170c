import { noCounts } from '../../documents/counts.ts'
import type { Counts } from '../../documents/counts.ts'
import { isConnectionLost, rolledBack } from '../../database/pool.ts'
import type { BatchScope } from '../../database/scopes.ts'
import { CallError, DrainingError, RunStoppedError } from '../../errors.ts'
import type { Operation } from '../../errors.ts'
import type { CallStats } from '../../service/client.ts'
import { withSpan } from '../../trace.ts'
import type { DoneScopes } from '../claim.ts'
import type { RuledClaim, SyncContext } from '../context.ts'
import { countsSince, noCallStats } from '../counts.ts'
import type { Asking } from '../fetch/comments.ts'
import { logFailure, logFault } from '../fetch/result.ts'
import type { AskedResult, FailedResult } from '../fetch/result.ts'
import { failedBy, isolateRecords, isScopeFault } from '../isolate.ts'
import { Uncommitted } from './buffer.ts'
import { commitAnswers, type RecordCommit, writeResults } from './commit.ts'

/** What the commits of one batch need to know of it. */
export interface CommitsOf {
  readonly claim: RuledClaim
  readonly where: { readonly batchKey: number; readonly operation: Operation }
  readonly done: DoneScopes
  readonly record: RecordCommit
  /** How to ask for a scope again whose answer could not be processed. */
  readonly asking: Asking
  /** What the calls of the batch have cost so far, and waiting for PostgreSQL that no commit has counted yet. */
  readonly stats: CallStats
  readonly databaseMs: number
  /** Hears what ends the batch: a commit that failed for another reason than what was to be stored. */
  readonly onError: (error: unknown) => void
}

/** The answers of one batch on their way into the tables: one commit at a time, and none fails for what another answer holds. */
export class BatchCommits {
  readonly #context: SyncContext
  readonly #of: CommitsOf
  #counted = noCallStats()
  #databaseMs: number
  readonly #uncommitted: Uncommitted
  #commits: Promise<void> = Promise.resolve()
  #isCommitDue = false
  /** No further answer comes: the last commit is all that is left. */
  #isAnswered = false
  /** Whether a commit that failed was made all the same shows only when the item is taken up again. */
  #isCommitUnknown = false

  constructor(context: SyncContext, of: CommitsOf) {
    this.#context = context
    this.#of = of
    this.#databaseMs = of.databaseMs
    const { memory } = context.collabApi
    this.#uncommitted = new Uncommitted(memory, () => this.#commitSoon())
  }

  /** Takes an answer, to be committed soon. */
  add(result: AskedResult): void {
    if (this.#isCommitUnknown) return
    this.#uncommitted.add(result)
    if (this.#uncommitted.isDue) this.#commitSoon()
  }

  /** Takes a scope whose answer could not be processed. */
  addFault(scope: BatchScope, error: unknown): void {
    this.#inTurn(() => this.#commitIsolated(scope, error))
  }

  /** A scope that failed, for a reason that is logged. */
  failed(scope: BatchScope, error: unknown): FailedResult {
    const failed = failedBy(scope, error)
    logFailure(this.#context.log, this.#of.where.operation, scope, failed.error)
    return failed
  }

  /** Waits for the commits under way; from then on only `commitEnd` and `commitRest` commit. */
  async answered(): Promise<void> {
    this.#isAnswered = true
    await this.#commits
  }

  /** Commits what is left, and the item's end with it. */
  commitEnd(): Promise<void> {
    return this.#commit(true)
  }

  /** Commits what is left where it can be; the item stays pending. */
  commitRest(): Promise<void> {
    return this.#safely(() => this.#commitWhatIsNew())
  }

  close(): void {
    this.#uncommitted.close()
  }

  /** One commit at a time waits for the one before it; it takes all that was answered until it begins. */
  #commitSoon(): void {
    if (this.#isCommitDue || this.#isAnswered) return
    this.#isCommitDue = true
    this.#inTurn(() => {
      this.#isCommitDue = false
      return this.#commitWhatIsNew()
    })
  }

  /** Does something that commits after the commits before it. What ends the batch is noted, not thrown. */
  #inTurn(commit: () => Promise<void>): void {
    this.#commits = this.#commits.then(() => this.#safely(commit))
  }

  async #safely(commit: () => Promise<void>): Promise<void> {
    if (this.#isCommitUnknown) return
    try {
      await commit()
    } catch (error) {
      // One that was given up before it began is known not to have been made.
      const isGivenUp = error instanceof DrainingError || error instanceof RunStoppedError
      if (!isGivenUp && !(error instanceof CallError)) {
        this.#isCommitUnknown = true
        // Nothing more is committed: calls must not wait for its memory.
        this.close()
      }
      this.#of.onError(error)
      if (isConnectionLost(error)) this.#context.storeSignal.lost(error)
    }
  }

  async #commitWhatIsNew(): Promise<void> {
    const isCounted = this.#of.stats.calls === this.#counted.calls
    if (!isCounted || !this.#uncommitted.isEmpty) await this.#commit(false)
  }

  /** Nothing of a commit that fails counts as done: its answers are asked for again. */
  async #commit(isEnd: boolean): Promise<void> {
    const { answers, memory } = this.#uncommitted.take()
    try {
      await this.#commitInParts(answers, isEnd)
    } catch (error) {
      if (answers.length === 0 || !isScopeFault(error)) throw error
      await this.#commitEach(answers, error)
      if (isEnd) await this.#commitAtOnce([], true)
    } finally {
      memory.resize(0)
    }
  }

  /** The last resort: scope by scope, those that are not in yet. */
  async #commitEach(answers: readonly AskedResult[], error: unknown): Promise<void> {
    for (const { scope } of answers)
      if (this.#of.done.isWanted(scope.scopeNo)) await this.#commitIsolated(scope, error)
  }

  /** In one transaction; where the data of some answers are refused, those of the others all the same. */
  async #commitInParts(answers: readonly AskedResult[], isEnd: boolean): Promise<void> {
    try {
      await this.#commitAtOnce(answers, isEnd)
    } catch (error) {
      if (answers.length < 2 || !isScopeFault(error)) throw error
      const half = answers.length >> 1
      for (const part of [answers.slice(0, half), answers.slice(half)])
        await this.#commitInParts(part, false).catch((fault: unknown) => {
          if (part.length > 1 || !isScopeFault(fault)) throw fault
          return this.#commitEach(part, fault)
        })
      if (isEnd) await this.#commitAtOnce([], true)
    }
  }

  /** Asks once more for a scope whose answer could not be processed, and goes without the records that are the reason. */
  async #commitIsolated(scope: BatchScope, error: unknown): Promise<void> {
    logFault(this.#context.log, this.#of.where.operation, scope, error)
    let result: AskedResult
    try {
      result = await this.#isolated(scope)
    } catch (again) {
      if (!isScopeFault(again)) throw again
      result = this.failed(scope, again)
    }
    try {
      await this.#commitAtOnce([result], false)
    } catch (again) {
      if (!isScopeFault(again)) throw again
      await this.#commitAtOnce([this.failed(scope, again)], false)
    }
  }

  #isolated(scope: BatchScope): Promise<AskedResult> {
    const { asking, claim, where } = this.#of
    return isolateRecords(asking, where.operation, scope, claim.scope, (part) =>
      rolledBack(this.#context.database, async (client) => {
        await writeResults(client, this.#committing(noCounts()), [part])
      }),
    )
  }

  #committing(counts: Counts) {
    const { shrinkLimit, heldAcceptAfter } = this.#context
    const { claim, record, where } = this.#of
    return { ...where, claim, record, shrinkLimit, heldAcceptAfter, counts }
  }

  async #commitAtOnce(answers: readonly AskedResult[], isEnd: boolean): Promise<void> {
    const stats = { ...this.#of.stats }
    const counts = countsSince(this.#counted, stats, this.#databaseMs)
    const { log, observed } = this.#context
    const committing = { ...this.#committing(counts), log, observed }
    const doneScopes = this.#of.done.bitsWith(answers.map(({ scope }) => scope.scopeNo))
    await withSpan('commit', { 'collab_sync.scopes': answers.length }, () =>
      commitAnswers(this.#context.database, committing, answers, { doneScopes, isEnd }),
    )
    this.#context.watch?.committed(this.#of.where.operation, counts)
    this.#databaseMs = 0
    this.#of.done.committed(doneScopes)
    this.#counted = stats
  }
}
