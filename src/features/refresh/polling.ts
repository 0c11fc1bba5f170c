import { CallError } from '../../base/errors.ts'
import type { Database } from '../../core/database/pool.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as refresh from '../../core/database/statements/refresh.ts'
import { canOthersCall, refusal } from '../../core/run/stop.ts'
import { describeUnreachable } from '../../core/service/reach.ts'
import { WaitLine } from '../../core/service/wait.ts'
import type { Priority, SharedRateLimit } from '../../core/service/wait.ts'
import type { SyncContext } from '../../core/sync/context.ts'

/** A moment at which polls are planned, and the definitions that hold at it. */
export type Moment = RowOf<typeof refresh.state>

/** The time by which polls are dated. */
export interface Clock {
  /** Reads the time, and the definitions that hold at it. */
  moment(): Promise<Moment>
  now(): Date
}

/** PostgreSQL's time; since the last moment that was read, it is moved on by this process's clock. */
export function databaseClock(database: Database): Clock {
  let last = { atMs: 0, readMs: 0 }
  return {
    async moment() {
      const moment = await refresh.state.one(database)
      last = { atMs: moment.at.getTime(), readMs: performance.now() }
      return moment
    },
    now: () => new Date(last.atMs + performance.now() - last.readMs),
  }
}

/** What came of a poll. */
export type Polled = 'found' | 'unchanged' | 'failed'

/** Polls that wait for the budget: enough for the time that it takes to plan the next ones. */
const WAITING_S = 0.5
/** Polls under way at a time, those that wait for another try included: then the service is slower than the budget. */
const POLLS_MAX = 512
/** Refresh is paused for twice as long as it has been paused already, within these. */
const PAUSE_S = { leastS: 5, mostS: 300 }
/** After so many failures in a row, in several organizations, the service is at fault and not the threads. */
const FAILURES_MAX = 32
/** A worker that cannot reach the service leaves refresh to the other workers for so long. */
const WITHDRAWN_MS = 60_000

/** What all polls of one process share: the budget, the run of the day, and whether refresh is paused. */
export class Polling {
  readonly context: SyncContext
  /** Calls that all processes may send for refresh. */
  readonly budget: SharedRateLimit
  readonly clock: Clock
  /** Scopes whose failure has its row in sync.failures today: another failure of them writes nothing. */
  readonly failing = new Set<string>()
  /** The item that counts what this worker does today; null before its first poll. */
  item: RowOf<typeof refresh.openRun> | null = null
  /** Whether refresh is paused, or was a moment ago and only tries whether it can continue. */
  isPaused = false
  /** Until when refresh is paused for all workers; null where it is not. */
  pausedUntil: Date | null = null
  readonly #line = new WaitLine()
  #withdrawnUntilMs = 0
  #waitingMax = 1
  #underWay = 0
  /** Polls that failed since the last good one, and their organizations. */
  #failed = 0
  readonly #organizations = new Set<number>()

  constructor(context: SyncContext, budget: SharedRateLimit, clock: Clock) {
    this.context = context
    this.budget = budget
    this.clock = clock
  }

  /**
   * Prepares for polls.
   * @returns null where refresh is switched off, paused or left to others, or where another worker makes the run of the day
   */
  async ready(): Promise<(Moment & { readonly budget: number }) | null> {
    if (performance.now() < this.#withdrawnUntilMs) return null
    const { collabApi, database, workerId } = this.context
    const moment = await this.clock.moment()
    const { at, pausedSince, pausedUntil, refreshBudget: budget } = moment
    this.pausedUntil = pausedUntil !== null && pausedUntil > at ? pausedUntil : null
    if (budget === null || this.pausedUntil !== null) return null
    // A circuit breaker that opened before the pause must not fail the polls after it.
    if (pausedSince !== null) collabApi.startAfresh()
    this.isPaused = pausedSince !== null
    if (this.item === null || at >= this.item.until) {
      this.item = (await refresh.openRun.first(database, { at, workerId })) ?? null
      this.failing.clear()
    }
    this.#waitingMax = Math.max(1, Math.ceil(budget * WAITING_S))
    return this.item && { ...moment, budget }
  }

  /** Waits until another poll may be begun. @throws the signal's reason when the worker drains */
  async mayBegin(priority: Priority): Promise<void> {
    while (this.#underWay >= POLLS_MAX || this.budget.snapshot().waiting >= this.#waitingMax)
      await this.#line.join(this.context.drained, priority)
  }

  /** Makes a poll as soon as the budget allows its first call. */
  async begin(poll: () => Promise<void>, priority: Priority): Promise<void> {
    this.#underWay += 1
    try {
      await this.budget.acquire(this.context.drained, priority)
      this.#line.letOneGo()
      await poll()
    } finally {
      this.#underWay -= 1
      this.#line.letOneGo()
    }
  }

  /**
   * Notes what came of a poll. If polls fail in several organizations without a good one between them, refresh is paused;
   * otherwise each scope would be noted as failing, one after the other. The first good poll ends the pause.
   */
  polled(outcome: Polled, organizationKey: number): void {
    if (outcome === 'failed') {
      this.#failed += 1
      this.#organizations.add(organizationKey)
      const { size } = this.#organizations
      if (this.#failed < FAILURES_MAX || size < 2) return
      const reason = `The service seems to be away, or to refuse COLLAB_API_KEY or COLLAB_AUTH_TOKEN: ${this.#failed} polls in a row, in ${size} organizations, failed.`
      void this.#pause(reason).catch(this.#warn)
    } else {
      if (this.isPaused) void refresh.goOn.run(this.context.database).catch(this.#warn)
      this.isPaused = false
    }
    this.#failed = 0
    this.#organizations.clear()
  }

  /** Handles what ended polls and is no failure of their scopes: it pauses refresh, or leaves it to other workers. */
  async failedWith(error: unknown): Promise<void> {
    const { drained, log } = this.context
    if (drained.aborted) return
    if (!(error instanceof CallError && error.concernsEveryCall))
      log.warn({ err: error }, 'refresh')
    else if (error.kind === 'credentials') await this.#pause(refusal(error))
    else if (await canOthersCall(this.context))
      this.#withdrawnUntilMs = performance.now() + WITHDRAWN_MS
    else await this.#pause(describeUnreachable(error))
  }

  /** @param reason a sentence for an operator */
  async #pause(reason: string): Promise<void> {
    const { database, log } = this.context
    this.isPaused = true
    const paused = await refresh.pause.run(database, { at: this.clock.now(), reason, ...PAUSE_S })
    if (paused > 0) log.error({ reason }, 'refresh is paused')
  }

  readonly #warn = (error: unknown): void => {
    this.context.log.warn({ err: error }, 'refresh')
  }
}
