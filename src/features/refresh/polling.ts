import { CallError } from '../../base/errors.ts'
import type { Database } from '../../core/database/pool.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as refresh from '../../core/database/statements/refresh.ts'
import { canOthersCall, refusal } from '../../core/run/stop.ts'
import { describeUnreachable } from '../../core/service/unreachable.ts'
import { WaitLine } from '../../core/service/wait-line.ts'
import type { SharedRateLimit } from '../../core/service/shared-rate-limit.ts'
import type { Priority } from '../../core/service/wait-line.ts'
import type { SyncContext } from '../../core/sync/context.ts'

/** The time at which polls are planned, and the current definitions. */
export type Moment = RowOf<typeof refresh.state>

/** The time of PostgreSQL when it was last read, plus the time that has passed in this process since. */
export function databaseClock(database: Database) {
  let last = { atMs: 0, readMs: 0 }
  return {
    async moment(): Promise<Moment> {
      const moment = await refresh.state.one(database)
      last = { atMs: moment.at.getTime(), readMs: performance.now() }
      return moment
    },
    now: () => new Date(last.atMs + performance.now() - last.readMs),
  }
}

export type Clock = ReturnType<typeof databaseClock>

export type Polled = 'found' | 'unchanged' | 'failed'

/** This many seconds of polls wait for the budget, so that polls continue while the next ones are planned. */
const WAITING_S = 0.5
/** Limit of concurrent polls, including those that wait for a retry. It applies if the service is slower than the budget. */
const POLLS_MAX = 512
/** Limits of a pause. Each pause doubles the time for which refresh has been paused. */
const PAUSE_S = { leastS: 5, mostS: 300 }
/** After this many consecutive failures in several organizations, the service is considered unavailable. */
const FAILURES_MAX = 32
/** For this time, a worker that cannot reach the service leaves refresh to the others. */
const WITHDRAWN_MS = 60_000
/** For this time, a worker does not repeat what another error ended, for example an error of PostgreSQL. */
const ERROR_REST_MS = 1_000

/** The state that all polls of one process share: the budget, the run of the day, and pauses. */
export class Polling {
  readonly context: SyncContext
  /** The rate limit of all processes for refresh. */
  readonly budget: SharedRateLimit
  readonly clock: Clock
  /** Scopes whose failure has a row in sync.failures today. Further failures of them write nothing. */
  readonly failing = new Set<string>()
  /** The run item with today's counts of this worker; null before its first poll. */
  item: RowOf<typeof refresh.openRun> | null = null
  /** Whether refresh is paused, or has not yet had a successful poll after a pause. */
  isPaused = false
  /** End of the pause for all workers; null if there is none. */
  pausedUntil: Date | null = null
  readonly #line = new WaitLine()
  #withdrawnUntilMs = 0
  #waitingMax = 1
  #underWay = 0
  /** Failed polls since the last successful one, and their organizations. */
  #failed = 0
  readonly #organizations = new Set<number>()

  constructor(context: SyncContext, budget: SharedRateLimit, clock: Clock) {
    this.context = context
    this.budget = budget
    this.clock = clock
  }

  /**
   * Prepares polls.
   * @returns null if refresh is off, paused (also by an operator) or left to other workers, or while another worker creates the run of the day
   */
  async ready(): Promise<(Moment & { readonly budget: number }) | null> {
    if (performance.now() < this.#withdrawnUntilMs) return null
    const { collabApi, database, workerId } = this.context
    if (collabApi.operatorPause() !== null) return null
    const moment = await this.clock.moment()
    const { at, pausedSince, pausedUntil, refreshBudget: budget } = moment
    this.pausedUntil = pausedUntil !== null && pausedUntil > at ? pausedUntil : null
    if (budget === null || this.pausedUntil !== null) return null
    // A circuit breaker that opened before the pause must not fail polls after it.
    if (pausedSince !== null) collabApi.startAfresh()
    this.isPaused = pausedSince !== null
    if (this.item === null || at >= this.item.until) {
      this.item = (await refresh.openRun.first(database, { at, workerId })) ?? null
      this.failing.clear()
    }
    this.#waitingMax = Math.max(1, Math.ceil(budget * WAITING_S))
    return this.item && { ...moment, budget }
  }

  /** Waits until another poll may start. @throws the signal's reason when the worker drains */
  async mayBegin(priority: Priority): Promise<void> {
    while (this.#underWay >= POLLS_MAX || this.budget.snapshot().waiting >= this.#waitingMax)
      await this.#line.join(this.context.drained, priority)
  }

  /** Starts a poll when the budget allows its first call. */
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
   * Records the outcome of a poll. If polls fail in several organizations without a successful one in between, refresh is paused;
   * otherwise an outage would mark every scope as failing. The first successful poll ends the pause.
   */
  polled(outcome: Polled, organizationKey: number): void {
    if (outcome === 'failed') {
      this.#failed += 1
      this.#organizations.add(organizationKey)
      const { size } = this.#organizations
      if (this.#failed < FAILURES_MAX || size < 2) return
      const reason = `The service seems to be unavailable, or to refuse COLLAB_API_KEY or COLLAB_AUTH_TOKEN: ${this.#failed} consecutive polls failed, in ${size} organizations.`
      void this.#pause(reason).catch(this.#warn)
    } else {
      if (this.isPaused) void refresh.goOn.run(this.context.database).catch(this.#warn)
      this.isPaused = false
    }
    this.#failed = 0
    this.#organizations.clear()
  }

  /** Handles an error that is not a failure of a scope: pauses refresh, leaves it to other workers, or waits a second. */
  async failedWith(error: unknown): Promise<void> {
    const { drained, log } = this.context
    if (drained.aborted) return
    if (!(error instanceof CallError && error.concernsEveryCall)) {
      this.#withdrawnUntilMs = performance.now() + ERROR_REST_MS
      log.warn({ err: error }, 'refresh')
    } else if (error.kind === 'credentials') await this.#pause(refusal(error))
    else if (await canOthersCall(this.context))
      this.#withdrawnUntilMs = performance.now() + WITHDRAWN_MS
    else await this.#pause(describeUnreachable(error))
  }

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
