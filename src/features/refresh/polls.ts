import { noCounts } from '../../schemas/counts.ts'
import { commitItem } from '../../core/database/claims.ts'
import { readScopes } from '../../core/database/scopes.ts'
import type { BatchScope } from '../../core/database/scopes.ts'
import type { On } from '../../core/database/statement.ts'
import * as refresh from '../../core/database/statements/refresh.ts'
import type { Priority } from '../../core/service/wait-line.ts'
import { SupersededError } from '../../core/run/claim.ts'
import { ClaimedBatch } from '../../core/sync/claimed-batch.ts'
import type { RecordCommit } from '../../core/sync/commit/commit.ts'
import type { RuledClaim } from '../../core/sync/context.ts'
import type { FetchedResult } from '../../core/sync/fetch/result.ts'
import type { Polled, Polling } from './polling.ts'

/** The scopes of one batch that are polled under one claim: all of them, or one thread. */
interface Unit {
  readonly claim: RuledClaim
  readonly scopes: readonly BatchScope[]
  /** The previous check of the batch. */
  readonly checkedAt: Date | null
}

type Units = Iterable<Unit> | AsyncIterable<Unit>

/**
 * Reads the threads of a page that are in the catalog. Each is polled under its own claim.
 * @param at start of the polls
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
 * Reads the batches of a page one after the other. All scopes of a batch are polled under one claim.
 * @param at start of the polls, and the time of the check
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
 * Draws a claim after the versions of its batches were read. An erasure in between changes the versions, so that the claim cannot
 * commit what was erased.
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
    isChecked: false,
    runStatus: 'running',
    scope: {},
    stopping: null,
    trigger: 'refresh',
    claimedAt: at,
    at,
    rules: await context.rules.of(drawn),
  }
}

/** The polls of one page, or of hints. An error ends them all, except units whose polls have all started. */
export class Polls {
  /** Polls of the class that found a change, and the sum of the seconds since the previous poll of the same scope. */
  readonly learned = { found: 0, gapS: 0 }
  readonly #polling: Polling
  readonly #priority: Priority
  readonly #steps: AsyncGenerator<void, void>
  readonly #ending: Promise<void>[] = []
  #failure: { readonly error: unknown } | null = null
  #calls = 0
  readonly #polls = { found: 0, unchanged: 0, failed: 0 }
  /** Counts of the polls that wrote nothing. */
  readonly #unwritten = noCounts()

  constructor(polling: Polling, units: Units, priority: Priority = 'normal') {
    this.#polling = polling
    this.#priority = priority
    this.#steps = this.#beginUnits(units)
  }

  /**
   * Starts at most `count` polls. Errors are thrown by `end`.
   * @returns whether all have started
   */
  async begin(count = Infinity): Promise<boolean> {
    for (let left = count; left > 0; left -= 1) if ((await this.#steps.next()).done) return true
    return false
  }

  /** Waits for all started polls. @throws an error that is not the failure of a scope */
  async end(): Promise<void> {
    // Units that are polled again are appended meanwhile.
    for (const unit of this.#ending) await unit
    if (this.#failure !== null) throw this.#failure.error
  }

  /** Adds the counts of the polls to the hour, and of those that wrote nothing to the run of the day. */
  async write(on: On, { class: of, at }: { class: number; at: Date }): Promise<void> {
    const { found, failed, unchanged } = this.#polls
    const polls = found + failed + unchanged
    const { item } = this.#polling
    if (polls === 0 || item === null) return
    const hour = { at, class: of, polls, calls: this.#calls, found, failed }
    await refresh.countPolls.run(on, { ...item, ...this.#unwritten, ...hour })
  }

  /** Starts one poll per step. The step before the first poll of a unit reads the unit. */
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

  /** Commits a unit. If another claim has committed to its batch meanwhile, its changed scopes are polled again. */
  async #end(batch: PolledBatch, { claim, checkedAt }: Unit): Promise<void> {
    const again = await batch.end().finally(() => (this.#calls += batch.calls))
    for (const poll of batch.polls) {
      const { scope } = poll
      if (again?.has(scope.scopeNo)) continue
      // A scope with its own check was polled as a thread meanwhile, so the interval is not one of class 7.
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

  /** @param gapMs since the previous poll; null if that was of another class */
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

/** Limit of the failing scopes that a process remembers. Other failures are written each time. */
const FAILING_MAX = 100_000

interface Poll {
  readonly scope: BatchScope
  outcome: Polled
  /** Whether there was no usable response. */
  readonly isFailed: boolean
  /** False if nothing changed, or if the failure is written already. */
  readonly isWritten: boolean
}

/** A batch under one claim: all of its scopes, or one thread. */
class PolledBatch {
  readonly polls: Poll[] = []
  /** Whether all scopes of the batch are polled, so that the end of the polls is a check of the batch. */
  readonly isWhole: boolean
  readonly #polling: Polling
  readonly #claim: RuledClaim
  readonly #priority: Priority
  readonly #batch: ClaimedBatch
  readonly #onFailure: (error: unknown) => void
  readonly #begun: Promise<void>[] = []
  #failure: { readonly error: unknown } | null = null
  /** Calls that the budget has allowed and that have not been sent. */
  #allowedCalls = 0
  /** Number of comments written or deleted. */
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
      // The polls of a page may be half an hour apart, so each dates its own changes.
      seenAt: () => clock.now(),
      record: (...commit) => this.#record(...commit),
      onError: this.fail,
    })
  }

  get calls(): number {
    return this.#batch.call.stats.calls
  }

  /** Starts to poll a scope. An error that is not a failure of the scope ends the batch. */
  begin(scope: BatchScope): void {
    const poll = this.#polling.begin(() => this.#poll(scope), this.#priority)
    this.#begun.push(poll.catch(this.fail))
  }

  /** Ends the batch, and also all others unless another claim superseded it. Uncommitted results are discarded. */
  readonly fail = (error: unknown): void => {
    this.#failure ??= { error }
    if (!(error instanceof SupersededError)) this.#onFailure(error)
  }

  /**
   * Commits the results, and the check of the batch if all of it was polled.
   * @returns null, or, if another claim has committed to the batch, the numbers of the scopes to poll again. Polls that wrote
   *   nothing are not repeated, because they have no result that could be out of date.
   * @throws the error that ended the batch
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
    // A thread with a rejected record has no digest, so each response counts as changed.
    if (!this.isWhole && this.#comments === 0)
      for (const poll of this.polls) if (poll.outcome === 'found') poll.outcome = 'unchanged'
    return null
  }

  async #poll(scope: BatchScope): Promise<void> {
    this.#allowedCalls += 1
    const isWritten = ({ outcome }: FetchedResult) =>
      outcome === 'failed'
        ? !this.#polling.failing.has(nameOf(scope))
        : outcome !== 'unchanged' || !this.#isChecked(scope)
    const result = await this.#batch.sync(scope, { isWritten })
    const isFailed = result.outcome === 'failed'
    const outcome = outcomeOf(result)
    this.polls.push({ scope, outcome, isFailed, isWritten: isWritten(result) })
    this.#polling.polled(outcome, scope.organizationKey)
  }

  /** Whether an unchanged scope needs no row of its own, because the page or batch records its check. */
  #isChecked({ hasOwnCheck, isFailing, checkedAt }: BatchScope): boolean {
    return this.isWhole ? !hasOwnCheck : !isFailing && checkedAt !== null
  }

  /** If nothing changed, only the batch's row is written. The end of the page counts the polls. */
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

function outcomeOf(result: FetchedResult): Polled {
  if (result.outcome === 'unchanged') return 'unchanged'
  const isFailed = result.outcome === 'failed' || result.incomplete !== null
  return isFailed ? 'failed' : 'found'
}

/** Unique among all kinds. */
function nameOf({ kind, key }: BatchScope): string {
  return `${kind} ${key}`
}
