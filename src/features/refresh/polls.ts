import { commitItem } from '../../core/database/claims.ts'
import { readScopes } from '../../core/database/scopes.ts'
import type { BatchScope } from '../../core/database/scopes.ts'
import * as refresh from '../../core/database/statements/refresh.ts'
import type { Priority } from '../../core/service/wait.ts'
import { SupersededError } from '../../core/run/claim.ts'
import { ClaimedBatch } from '../../core/sync/claimed-batch.ts'
import type { RecordCommit } from '../../core/sync/commit/commit.ts'
import type { RuledClaim } from '../../core/sync/context.ts'
import { nameOf, Tally } from './polling.ts'
import type { Polled, Polling } from './polling.ts'

type Units = AsyncIterable<Unit> | Promise<Unit[]>

/** Scopes of one batch that are polled under one claim. */
interface Unit {
  readonly claim: RuledClaim
  readonly scopes: readonly BatchScope[]
  /** When a scope was polled before; null where that says nothing of its class. */
  readonly polledAt: (scope: BatchScope) => Date | null
  /** Reads some of its scopes for another try. */
  readonly again: (scopes: readonly BatchScope[]) => Units
}

/**
 * Reads threads, to poll each by itself; leaves out those that left the catalog.
 * @param at begin of the polls: none is older
 */
export async function readThreads(
  polling: Polling,
  keys: readonly number[],
  at: Date,
): Promise<Unit[]> {
  const threads = await refresh.threads.all(polling.context.database, { keys: [...keys] })
  const drawn = await drawClaim(polling, at)
  return threads.map((thread) => {
    const { batchKey, batchXmin, scopeNo, polledAt } = thread
    const onlyScopes = '1'.padStart(scopeNo + 1, '0')
    return {
      claim: { ...drawn, batchKey, batchXmin, operation: 'comments', onlyScopes },
      scopes: [{ ...thread, kind: 'annotation' }],
      polledAt: () => polledAt,
      again: () => readThreads(polling, [thread.key], polling.clock.now()),
    }
  })
}

/**
 * Reads batches one after the other, to poll each as a whole.
 * @param at as in {@link readThreads}, and the time of check of the batches
 * @param only scopes to poll; all when left out
 */
export async function* readBatches(
  polling: Polling,
  keys: readonly number[],
  at: Date,
  only?: ReadonlySet<number>,
): AsyncGenerator<Unit, void> {
  const { database } = polling.context
  for (const batchKey of keys) {
    const { batchXmin, checkedAt, operation } = await refresh.batch.one(database, { batchKey })
    const drawn = await drawClaim(polling, at)
    const scopes = await readScopes(database, batchKey, operation)
    yield {
      claim: { ...drawn, batchKey, batchXmin, operation, onlyScopes: null },
      scopes: only ? scopes.filter(({ scopeNo }) => only.has(scopeNo)) : scopes,
      // A scope that has its own check was polled by itself meanwhile.
      polledAt: ({ hasOwnCheck }) => (hasOwnCheck ? null : checkedAt),
      again: (those) =>
        readBatches(polling, [batchKey], at, new Set(those.map(({ scopeNo }) => scopeNo))),
    }
  }
}

/**
 * Draws a claim, after the versions of its batches were read: an erasure in between moves them, so that nothing of the claim
 * commits without it.
 */
async function drawClaim(
  { context, item }: Polling,
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

/** The polls of one page, or of hints. What ends one of them ends them all, but for units of which all polls are begun. */
export class Polls {
  readonly tally = new Tally()
  readonly #polling: Polling
  readonly #priority: Priority
  readonly #ending: Promise<void>[] = []
  #failure: { readonly error: unknown } | null = null

  constructor(polling: Polling, priority: Priority) {
    this.#polling = polling
    this.#priority = priority
  }

  /** Begins to poll the scopes of units, one a step after the first step, which only reads. Never rejects: `end` does. */
  async *begin(units: Units): AsyncGenerator<void, void> {
    try {
      for await (const unit of await units) yield* this.#begin(unit)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Begins to poll all scopes of units. */
  async beginAll(units: Units): Promise<void> {
    const steps = this.begin(units)
    while (!(await steps.next()).done);
  }

  /** Waits for all that are begun. @throws what ended one of them and is no failure of its scope */
  async end(): Promise<Tally> {
    // A unit that is polled again adds to the list.
    for (const unit of this.#ending) await unit
    if (this.#failure !== null) throw this.#failure.error
    return this.tally
  }

  async *#begin(unit: Unit): AsyncGenerator<void, void> {
    const batch = new PolledBatch(this.#polling, this.tally, unit.claim, this.#priority)
    const begun: Promise<void>[] = []
    try {
      for (const scope of unit.scopes) {
        yield
        if (this.#failure !== null) throw this.#failure.error
        const { ended } = await this.#polling.begin(() => batch.poll(scope), this.#priority)
        ended.catch((error: unknown) => this.#fail(error))
        begun.push(ended)
      }
    } catch (error) {
      begun.push(Promise.reject(error as Error))
      throw error
    } finally {
      this.#ending.push(this.#end(unit, batch, begun).catch((error: unknown) => this.#fail(error)))
    }
  }

  /** Commits a unit; polls again what another claim wrote to meanwhile. */
  async #end(unit: Unit, batch: PolledBatch, begun: readonly Promise<void>[]): Promise<void> {
    let again: readonly BatchScope[] | null
    try {
      for (const poll of await Promise.allSettled(begun))
        if (poll.status === 'rejected') throw poll.reason
      again = await batch.end()
    } finally {
      batch.close()
    }
    for (const [scope, outcome] of batch.outcomes) {
      if (again?.includes(scope)) continue
      const polledAt = unit.polledAt(scope)
      this.tally.add(outcome, polledAt && unit.claim.at.getTime() - polledAt.getTime())
    }
    if (again === null) return
    await this.beginAll(unit.again(again))
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
  }
}

/** Failing scopes that a process remembers. A failure of any other is written again each time. */
const FAILING_MAX = 100_000

/** A batch under one claim: all of its scopes, or one thread. */
class PolledBatch {
  readonly #polling: Polling
  readonly #tally: Tally
  readonly #claim: RuledClaim
  readonly #batch: ClaimedBatch
  /** What came of each poll. */
  readonly outcomes = new Map<BatchScope, Polled>()
  /** Scopes whose results are committed, and whether they failed. */
  readonly #added = new Map<BatchScope, boolean>()
  /** Calls that the budget has allowed and that are not sent. */
  #allowedCalls = 0
  #failure: { readonly error: unknown } | null = null
  /** Comments that were written or deleted. */
  #comments = 0

  constructor(polling: Polling, tally: Tally, claim: RuledClaim, priority: Priority) {
    const { budget, clock, context } = polling
    this.#polling = polling
    this.#tally = tally
    this.#claim = claim
    this.#batch = new ClaimedBatch(context, claim, {
      call: {
        waitSignal: context.drained,
        priority,
        beforeTry: (signal) => {
          if (this.#allowedCalls === 0) return budget.acquire(signal, priority)
          this.#allowedCalls -= 1
          return null
        },
      },
      // The polls of a page may be half an hour apart: what they find is dated by each of them.
      seenAt: () => clock.now(),
      record: (...commit) => this.#record(...commit),
      onError: (error) => (this.#failure ??= { error }),
    })
  }

  /**
   * Polls a scope, whose first call the budget has allowed. Nothing is written where the scope is as it was, or fails as it did
   * before.
   * @throws what is no failure of the scope alone, such as refused credentials, or the end of the work
   */
  async poll(scope: BatchScope): Promise<void> {
    this.#allowedCalls += 1
    const result = await this.#batch.fetch(scope)
    const isFailed = result.outcome === 'failed'
    const isUnwritten = isFailed
      ? this.#polling.failing.has(nameOf(scope))
      : result.outcome === 'unchanged' && this.#isChecked(scope)
    if (isUnwritten) this.#tally.addUnwritten(scope, isFailed)
    else {
      this.#added.set(scope, isFailed)
      this.#batch.add(result)
    }
    const outcome = outcomeOf(result)
    this.outcomes.set(scope, outcome)
    this.#polling.polled(outcome, scope.organizationKey)
  }

  /**
   * Commits what is to be written, and that the batch was checked where the claim is for all of it.
   * @returns null; where another claim wrote to the batch, the scopes to poll again. Polls that wrote nothing are not among
   * them: they have nothing that could be older than what is stored.
   * @throws what ended the batch
   */
  async end(): Promise<readonly BatchScope[] | null> {
    try {
      await this.#batch.answered()
      if (this.#failure !== null) throw this.#failure.error
      if (this.#isWhole || this.#added.size > 0) await this.#batch.commitEnd()
    } catch (error) {
      if (!(error instanceof SupersededError)) throw error
      return [...this.#added.keys()]
    }
    const { failing } = this.#polling
    for (const [scope, isFailed] of this.#added)
      if (!isFailed) failing.delete(nameOf(scope))
      else if (failing.size < FAILING_MAX) failing.add(nameOf(scope))
    // The response of a thread with a rejected record is never known, and seems to be another one each time.
    if (!this.#isWhole && this.#comments === 0)
      for (const [scope, outcome] of this.outcomes)
        if (outcome === 'found') this.outcomes.set(scope, 'unchanged')
    return null
  }

  /** To be called at its end, whatever that was. */
  close(): void {
    this.#tally.calls += this.#batch.call.stats.calls
    this.#batch.close()
  }

  get #isWhole(): boolean {
    return this.#claim.onlyScopes === null
  }

  /** Whether the end of its page or batch is the check of a scope that is as it was. */
  #isChecked({ hasOwnCheck, isFailing, checkedAt }: BatchScope): boolean {
    return this.#isWhole ? !hasOwnCheck : !isFailing && checkedAt !== null
  }

  /** Where nothing changed, only the batch's row is written; the end of the page counts the polls that wrote nothing. */
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
    this.#comments += counts.commentsWritten + counts.commentsDeleted
    return true
  }
}

function outcomeOf(result: Awaited<ReturnType<ClaimedBatch['fetch']>>): Polled {
  if (result.outcome === 'unchanged') return 'unchanged'
  const isFailed =
    result.outcome === 'failed' || result.outcome === 'fault' || result.incomplete !== null
  return isFailed ? 'failed' : 'found'
}
