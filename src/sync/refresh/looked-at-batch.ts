import { commitItem } from '../../database/claims.ts'
import type { BatchScope } from '../../database/scopes.ts'
import * as refresh from '../../database/statements/refresh.ts'
import type { Priority } from '../../service/wait.ts'
import { SupersededError } from '../claim.ts'
import { ClaimedBatch } from '../claimed-batch.ts'
import type { RecordCommit } from '../commit/commit.ts'
import type { RuledClaim } from '../context.ts'
import type { Looked, Looking, LooksSoFar } from './looking.ts'

/** Draws a claim for looks that begin at `at`; its batch is for the caller to add. */
export async function claimLooks(
  { context, item }: Looking,
  at: Date,
): Promise<Omit<RuledClaim, 'batchKey' | 'batchXmin' | 'operation' | 'onlyScopes'>> {
  const drawn = await refresh.claim.one(context.database)
  return {
    ...drawn,
    ...item,
    kind: 'refresh',
    round: 0,
    attempts: 0,
    doneScopes: null,
    runStatus: 'running',
    scope: {},
    stopping: null,
    trigger: 'refresh',
    claimedAt: at,
    at,
    rules: await context.rules.of(drawn),
  }
}

/** A batch as refresh fetches it under one claim: some of its scopes, or all. */
export class LookedAtBatch {
  readonly #looking: Looking
  readonly #soFar: LooksSoFar
  readonly #claim: RuledClaim
  readonly #batch: ClaimedBatch
  /** Scopes whose results are committed, and whether they failed. */
  readonly #added = new Map<BatchScope, boolean>()
  /** Calls that the budget was asked for before they were due. */
  #paidCalls = 0
  #failure: { readonly error: unknown } | null = null
  /** Comments that were written or deleted. */
  comments = 0

  constructor(looking: Looking, soFar: LooksSoFar, claim: RuledClaim, priority: Priority) {
    const { budget, clock, context } = looking
    this.#looking = looking
    this.#soFar = soFar
    this.#claim = claim
    this.#batch = new ClaimedBatch(context, claim, {
      call: {
        waitSignal: context.drained,
        priority,
        beforeTry: (signal) => {
          if (this.#paidCalls === 0) return budget.acquire(signal, priority)
          this.#paidCalls -= 1
          return null
        },
      },
      // The looks of a page may be half an hour apart: what they find is dated by each of them.
      seenAt: () => clock.about(),
      record: (...commit) => this.#record(...commit),
      onError: (error) => (this.#failure ??= { error }),
    })
  }

  /**
   * Fetches a scope; the budget was asked for its first call. Nothing is written where the scope is as it was, or fails as
   * it did before.
   * @throws what is no failure of the scope alone, such as refused credentials, or the end of the work
   */
  async look(scope: BatchScope): Promise<Looked> {
    this.#paidCalls += 1
    const result = await this.#batch.fetch(scope)
    const { outcome } = result
    if (outcome === 'unchanged' && this.#isChecked(scope)) this.#soFar.unchanged(scope)
    else if (outcome === 'failed' && this.#looking.noted.has(scope)) this.#soFar.failedAgain()
    else {
      this.#added.set(scope, outcome === 'failed')
      this.#batch.add(result)
    }
    if (outcome === 'unchanged' || outcome === 'failed') return outcome
    return outcome === 'fault' || result.incomplete !== null ? 'failed' : 'found'
  }

  /**
   * Commits what is to be written, and that the batch was checked where the claim is for all of it.
   * @returns null; where another claim wrote to the batch, the places of the scopes to fetch again
   * @throws what ended the batch
   */
  async end(): Promise<ReadonlySet<number> | null> {
    const added = [...this.#added]
    try {
      await this.#batch.answered()
      if (this.#failure !== null) throw this.#failure.error
      if (this.#isWhole || added.length > 0) await this.#batch.commitEnd()
    } catch (error) {
      if (!(error instanceof SupersededError)) throw error
      return new Set(added.map(([{ scopeNo }]) => scopeNo))
    }
    for (const [scope, isFailed] of added) this.#looking.noted.note(scope, isFailed)
    return null
  }

  /** To be called at its end, whatever that was. */
  close(): void {
    this.#soFar.calls += this.#batch.call.stats.calls
    this.#batch.close()
  }

  get #isWhole(): boolean {
    return this.#claim.onlyScopes === null
  }

  /** Whether the end of its page or batch is the check of a scope that is as it was. */
  #isChecked({ hasOwnCheck, isFailing, checkedAt }: BatchScope): boolean {
    return this.#isWhole ? !hasOwnCheck : !isFailing && checkedAt !== null
  }

  /** Where nothing changed the batch's row is all that is written; what looks that found nothing count is added at the end of their page. */
  async #record(...[on, commit]: Parameters<RecordCommit>): Promise<boolean> {
    const { batchKey, claimNo, batchXmin, claimedAt } = this.#claim
    const { counts, isEnd } = commit
    const checkedAt = isEnd && this.#isWhole ? claimedAt : null
    const isCounted = counts.scopesSucceeded + counts.scopesFailed + counts.scopesHeld > 0
    if (isCounted) {
      const part = { ...commit, claim: this.#claim, isEnd: false, doneScopes: '' }
      if (!(await commitItem(on, part))) return false
    }
    if (!isCounted || checkedAt !== null) {
      const whole = { batchKey: batchKey as number, claimNo, batchXmin, checkedAt }
      if ((await refresh.commitBatch.run(on, whole)) === 0) return false
    }
    this.comments += counts.commentsWritten + counts.commentsDeleted
    return true
  }
}
