import { noCounts } from '../../documents/counts.ts'
import { commitItem } from '../../core/database/claims.ts'
import { readScopes } from '../../core/database/scopes.ts'
import type { BatchScope } from '../../core/database/scopes.ts'
import type { On } from '../../core/database/statement.ts'
import * as refresh from '../../core/database/statements/refresh.ts'
import type { Priority } from '../../core/service/wait.ts'
import { SupersededError } from '../../core/run/claim.ts'
import { ClaimedBatch } from '../../core/sync/claimed-batch.ts'
import type { RecordCommit } from '../../core/sync/commit/commit.ts'
import type { RuledClaim } from '../../core/sync/context.ts'
import type { AskedResult } from '../../core/sync/fetch/result.ts'
import type { Polled, Polling } from './polling.ts'

/** Scopes of one batch that are polled under one claim: all of them, or one thread. */
interface Unit {
  readonly claim: RuledClaim
  readonly scopes: readonly BatchScope[]
  /** When the batch was checked before. */
  readonly checkedAt: Date | null
}

type Units = Iterable<Unit> | AsyncIterable<Unit>

/**
 * Reads threads, to poll each by itself; leaves out those that left the catalog.
 * @param at begin of the polls: none is older
 */
export async function* readThreads(
  polling: Polling,
  keys: readonly number[],
  at: Date,
): AsyncGenerator<Unit, void> {
  const threads = await refresh.threads.all(polling.context.database, { keys: [...keys] })
  const drawn = await drawClaim(polling, at)
  for (const thread of threads) {
    const { batchKey, batchXmin, scopeNo } = thread
    const onlyScopes = '1'.padStart(scopeNo + 1, '0')
    yield {
      claim: { ...drawn, batchKey, batchXmin, operation: 'comments', onlyScopes },
      scopes: [{ ...thread, kind: 'annotation' }],
      checkedAt: null,
    }
  }
}

/**
 * Reads batches one after the other, to poll each as a whole.
 * @param at as in {@link readThreads}, and the time of check of the batches
 */
export async function* readBatches(
  polling: Polling,
  keys: readonly number[],
  at: Date,
): AsyncGenerator<Unit, void> {
  for (const batchKey of keys) yield await readBatch(polling, { batchKey, onlyScopes: null }, at)
}

async function readBatch(
  polling: Polling,
  { batchKey, onlyScopes }: { batchKey: number; onlyScopes: string | null },
  at: Date,
): Promise<Unit> {
  const { database } = polling.context
  const { batchXmin, checkedAt, operation } = await refresh.batch.one(database, { batchKey })
  const drawn = await drawClaim(polling, at)
  const scopes = await readScopes(database, batchKey, operation)
  return { claim: { ...drawn, batchKey, batchXmin, operation, onlyScopes }, scopes, checkedAt }
}

/**
 * Draws a claim, after the versions of its batches were read: an erasure in between moves them, so that nothing of the claim
 * commits without it.
 */
async function drawClaim(
  { context, item }: Polling,
  at: Date,
): Promise<Omit<RuledClaim, 'batchKey' | 'batchXmin' | 'operation' | 'onlyScopes'>> {
  if (item === null) throw new Error('The run of the day has not begun.')
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
  /** What they say of how often scopes of their class change: the changes, and the seconds since the polls before. */
  readonly learned = { found: 0, gapS: 0 }
  readonly #polling: Polling
  readonly #priority: Priority
  readonly #steps: AsyncGenerator<void, void>
  readonly #ending: Promise<void>[] = []
  #failure: { readonly error: unknown } | null = null
  #calls = 0
  readonly #polls = { found: 0, unchanged: 0, failed: 0 }
  /** Of the polls that wrote nothing. */
  readonly #unwritten = noCounts()

  constructor(polling: Polling, units: Units, priority: Priority = 'normal') {
    this.#polling = polling
    this.#priority = priority
    this.#steps = this.#beginUnits(units)
  }

  /**
   * Begins polls, `count` at most. Never rejects: `end` does.
   * @returns whether all are begun
   */
  async begin(count = Infinity): Promise<boolean> {
    for (let left = count; left > 0; left -= 1) if ((await this.#steps.next()).done) return true
    return false
  }

  /** Waits for all that are begun. @throws what ended one of them and is no failure of its scope */
  async end(): Promise<void> {
    // A unit that is polled again adds to the list.
    for (const unit of this.#ending) await unit
    if (this.#failure !== null) throw this.#failure.error
  }

  /** Adds the polls to those of the hour, and those that wrote nothing to the day. */
  async write(on: On, { class: of, at }: { class: number; at: Date }): Promise<void> {
    const { found, failed, unchanged } = this.#polls
    const looks = found + failed + unchanged
    const { item } = this.#polling
    if (looks === 0 || item === null) return
    const hour = { at, class: of, looks, calls: this.#calls, found, failed }
    await refresh.countPolls.run(on, { ...item, ...this.#unwritten, ...hour })
  }

  /** Begins to poll the scopes of units, one a step. The step before a unit's first poll only reads it. */
  async *#beginUnits(units: Units): AsyncGenerator<void, void> {
    try {
      for await (const unit of units) {
        const batch = new PolledBatch(this.#polling, unit, this.#priority, this.#fail)
        try {
          for (const scope of unit.scopes) {
            yield
            if (this.#failure !== null) throw this.#failure.error
            await this.#polling.mayBegin(this.#priority)
            batch.begin(scope)
          }
        } catch (error) {
          batch.fail(error)
        }
        this.#ending.push(this.#end(batch, unit).catch(this.#fail))
        if (this.#failure !== null) return
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Commits a unit; polls again what another claim wrote to meanwhile. */
  async #end(batch: PolledBatch, { claim, checkedAt }: Unit): Promise<void> {
    const again = await batch.end().finally(() => (this.#calls += batch.calls))
    for (const poll of batch.polls) {
      const { scope } = poll
      if (again?.has(scope.scopeNo)) continue
      // A scope of a batch that has its own check was polled by itself meanwhile: that says nothing of class 7.
      const before = batch.isWhole ? !scope.hasOwnCheck && checkedAt : scope.checkedAt
      this.#count(poll, before ? claim.at.getTime() - before.getTime() : null)
    }
    if (again === null) return
    const { batchKey, onlyScopes } = claim
    const at = batch.isWhole ? claim.at : this.#polling.clock.now()
    const unit = await readBatch(this.#polling, { batchKey: batchKey as number, onlyScopes }, at)
    const scopes = unit.scopes.filter(({ scopeNo }) => again.has(scopeNo))
    const steps = this.#beginUnits([{ ...unit, scopes }])
    while (!(await steps.next()).done);
  }

  /** @param gapMs since the poll before; null where it says nothing of the class */
  #count({ scope, outcome, isFailed, isWritten }: Poll, gapMs: number | null): void {
    this.#polls[outcome] += 1
    const counts = this.#unwritten
    if (!isWritten && isFailed) counts.scopesFailed += 1
    else if (!isWritten) {
      counts.scopesSucceeded += 1
      counts.recordsUnchanged += scope.recordCount
      counts[`${scope.kind}sDone`] += 1
    }
    if (gapMs === null || outcome === 'failed') return
    this.learned.gapS += Math.max(0, gapMs / 1000)
    if (outcome === 'found') this.learned.found += 1
  }

  readonly #fail = (error: unknown): void => {
    this.#failure ??= { error }
  }
}

/** Failing scopes that a process remembers. A failure of any other is written again each time. */
const FAILING_MAX = 100_000

/** A poll that has ended. */
interface Poll {
  readonly scope: BatchScope
  outcome: Polled
  /** Whether there was no usable response at all. */
  readonly isFailed: boolean
  /** False where the scope is as it was, or fails as it did before. */
  readonly isWritten: boolean
}

/** A batch under one claim: all of its scopes, or one thread. */
class PolledBatch {
  readonly polls: Poll[] = []
  /** Whether all of the batch is polled, so that it was checked when all of its polls have ended. */
  readonly isWhole: boolean
  readonly #polling: Polling
  readonly #claim: RuledClaim
  readonly #priority: Priority
  readonly #batch: ClaimedBatch
  readonly #onFailure: (error: unknown) => void
  readonly #begun: Promise<void>[] = []
  #failure: { readonly error: unknown } | null = null
  /** Calls that the budget has allowed and that are not sent. */
  #allowedCalls = 0
  /** Comments that were written or deleted. */
  #comments = 0

  constructor(
    polling: Polling,
    { claim }: Unit,
    priority: Priority,
    onFailure: (error: unknown) => void,
  ) {
    const { budget, clock, context } = polling
    this.isWhole = claim.onlyScopes === null
    this.#polling = polling
    this.#claim = claim
    this.#priority = priority
    this.#onFailure = onFailure
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
      onError: this.fail,
    })
  }

  get calls(): number {
    return this.#batch.call.stats.calls
  }

  /** Begins to poll a scope. Never rejects: what is no failure of the scope alone fails the batch. */
  begin(scope: BatchScope): void {
    const poll = this.#polling.begin(() => this.#poll(scope), this.#priority)
    this.#begun.push(poll.catch(this.fail))
  }

  /** Ends the batch with an error: what it has not committed is dropped. If another claim superseded it, it alone ends. */
  readonly fail = (error: unknown): void => {
    this.#failure ??= { error }
    if (!(error instanceof SupersededError)) this.#onFailure(error)
  }

  /**
   * Commits what is to be written, and that the batch was checked where the claim is for all of it.
   * @returns null; where another claim wrote to the batch, the numbers of the scopes to poll again. Polls that wrote nothing
   * are not among them: they have nothing that could be older than what is stored.
   * @throws what ended the batch
   */
  async end(): Promise<ReadonlySet<number> | null> {
    const isWritten = () => this.polls.filter((poll) => poll.isWritten)
    try {
      await Promise.all(this.#begun)
      await this.#batch.committed()
      if (this.#failure !== null) throw this.#failure.error
      if (this.isWhole || isWritten().length > 0) await this.#batch.commitAndFinish()
    } catch (error) {
      if (!(error instanceof SupersededError)) throw error
      return new Set(isWritten().map(({ scope }) => scope.scopeNo))
    } finally {
      this.#batch.close()
    }
    const { failing } = this.#polling
    for (const { scope, isFailed } of isWritten())
      if (!isFailed) failing.delete(nameOf(scope))
      else if (failing.size < FAILING_MAX) failing.add(nameOf(scope))
    // The response of a thread with a rejected record is never known, and seems to be another one each time.
    if (!this.isWhole && this.#comments === 0)
      for (const poll of this.polls) if (poll.outcome === 'found') poll.outcome = 'unchanged'
    return null
  }

  /** Polls a scope whose first call the budget has allowed. */
  async #poll(scope: BatchScope): Promise<void> {
    this.#allowedCalls += 1
    const isWritten = ({ outcome }: AskedResult) =>
      outcome === 'failed'
        ? !this.#polling.failing.has(nameOf(scope))
        : outcome !== 'unchanged' || !this.#isChecked(scope)
    const result = await this.#batch.sync(scope, { isWritten })
    const isFailed = result.outcome === 'failed'
    const outcome = outcomeOf(result)
    this.polls.push({ scope, outcome, isFailed, isWritten: isWritten(result) })
    this.#polling.polled(outcome, scope.organizationKey)
  }

  /** Whether the end of its page or batch is the check of a scope that is as it was. */
  #isChecked({ hasOwnCheck, isFailing, checkedAt }: BatchScope): boolean {
    return this.isWhole ? !hasOwnCheck : !isFailing && checkedAt !== null
  }

  /** Where nothing changed, only the batch's row is written; the end of the page counts the polls that wrote nothing. */
  async #record(...[on, commit]: Parameters<RecordCommit>): Promise<boolean> {
    const claim = this.#claim
    const { counts, isEnd } = commit
    if (counts.scopesSucceeded + counts.scopesFailed + counts.scopesHeld > 0) {
      const part = { ...commit, claim, isEnd: false, doneScopes: '' }
      if (!(await commitItem(on, part))) return false
    }
    this.#comments += counts.commentsWritten + counts.commentsDeleted
    if (!isEnd || !this.isWhole) return true
    const { batchXmin, claimedAt: checkedAt, claimNo } = claim
    const check = { batchKey: claim.batchKey as number, claimNo, batchXmin, checkedAt }
    return (await refresh.checkBatch.run(on, check)) === 1
  }
}

function outcomeOf(result: AskedResult): Polled {
  if (result.outcome === 'unchanged') return 'unchanged'
  const isFailed = result.outcome === 'failed' || result.incomplete !== null
  return isFailed ? 'failed' : 'found'
}

/** A scope among those of all kinds. */
function nameOf({ kind, key }: BatchScope): string {
  return `${kind} ${key}`
}
