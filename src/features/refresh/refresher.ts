import { setTimeout } from 'node:timers/promises'
import * as refresh from '../../core/database/statements/refresh.ts'
import { CallError } from '../../base/errors.ts'
import { describeUnreachable } from '../../core/service/reach.ts'
import { WaitLine } from '../../core/service/wait.ts'
import type { Priority, SharedRateLimit } from '../../core/service/wait.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import { canOthersCall, refusal } from '../../core/run/stop.ts'
import { EVERYTHING, HINTED, neededShare, pollsAPage, type Promised } from './classes.ts'
import { Clock } from './clock.ts'
import type { Moment } from './clock.ts'
import { Hints } from './hints.ts'
import { Pauses } from './pauses.ts'
import { Planner } from './planner.ts'
import type { RefreshPage } from './planner.ts'
import type { Polling } from './polling.ts'
import { Polls, readBatches, readThreads } from './polls.ts'

/** Between two steps where there is nothing to poll. */
const IDLE_MS = 500
/** Between two tries while PostgreSQL is unavailable, or refresh is switched off or paused. */
const REST_MS = 1_000
/** A worker that cannot reach the service leaves refresh to the other workers for so long. */
const WITHDRAWN_MS = 60_000
/** Between two looks for hints. */
const HINTS_MS = 400
/** Polls that wait for the budget: enough for the time that it takes to plan the next ones. */
const WAITING_S = 0.5
/** Polls under way at a time, those that wait for another try included: then the service is slower than the budget. */
const POLLS_MAX = 512

/** A page whose polls are begun step by step. */
interface BegunPage {
  readonly page: RefreshPage
  readonly polls: Polls
  readonly steps: AsyncGenerator<void, void>
}

/**
 * What one worker does of continuous refresh, until it is stopped: pages of threads and batches, each call within the budget
 * that all processes share. It does not use the queue, so that a lost queue loses nothing here.
 */
export class Refresher {
  readonly #context: SyncContext
  readonly #budget: SharedRateLimit
  readonly #clock: Clock
  readonly #planner: Planner
  readonly #hints = new Hints()
  readonly #pauses: Pauses
  #restsUntilMs = 0
  #pausedUntil: Date | null = null
  #day: (Polling & { readonly item: { readonly until: Date } }) | null = null
  /** Pages of which all polls are begun. */
  readonly #ending = new Set<Promise<void>>()
  /** The page of batches, which is polled a portion at a time: threads are polled in between. */
  #sweeping: BegunPage | null = null
  readonly #line = new WaitLine()
  #underWay = 0
  #waitingMax = 1

  /** @param clock the time and the definitions; PostgreSQL's own when left out */
  constructor(
    context: SyncContext,
    budget: SharedRateLimit,
    clock = new Clock(() => refresh.begin.one(context.database)),
  ) {
    this.#context = context
    this.#budget = budget
    this.#clock = clock
    this.#planner = new Planner(context)
    this.#pauses = new Pauses(context, clock)
  }

  /** The item that counts what this worker does today; null before its first poll. */
  get itemId(): number | null {
    return this.#day?.item.itemId ?? null
  }

  /** Until when refresh is paused for all workers; null where it is not. */
  get pausedUntil(): Date | null {
    return this.#pausedUntil
  }

  /** Refreshes until the worker drains. Never rejects: what fails is logged and tried again. */
  async run(): Promise<void> {
    await Promise.all([this.#repeat(() => this.step()), this.#repeat(() => this.#pollHints())])
    if (this.#sweeping !== null) {
      await this.#sweeping.steps.throw(new Error('The worker is stopping.'))
      this.#endSoon(this.#sweeping)
    }
    await this.ended()
  }

  /**
   * Begins the polls that are due next.
   * @returns milliseconds to rest before the next step
   */
  async step(): Promise<number> {
    const moment = await this.#readyMoment()
    if (moment === null) return REST_MS
    const next = await this.#planner.next(moment, this.#sweeping !== null)
    if (next === null) return IDLE_MS
    if (next !== 'continue') {
      const begun = open(moment.today, next)
      if (next.class !== EVERYTHING) {
        while (!(await begun.steps.next()).done);
        this.#endSoon(begun)
        return 0
      }
      await begun.steps.next()
      this.#sweeping = begun
    }
    for (let left = pollsAPage(moment); left > 0 && this.#sweeping !== null; left -= 1) {
      if (!(await this.#sweeping.steps.next()).done) continue
      this.#endSoon(this.#sweeping)
      this.#sweeping = null
    }
    return 0
  }

  /** Waits until every page of which all polls are begun has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#ending)
  }

  /** Does something again and again until the worker drains. */
  async #repeat(step: () => Promise<number>): Promise<void> {
    const { drained, log } = this.#context
    while (!drained.aborted) {
      const restMs = await step().catch((error: unknown) => {
        if (!drained.aborted) log.warn({ err: error }, 'refresh')
        return REST_MS
      })
      if (restMs > 0) await setTimeout(restMs, undefined, { signal: drained }).catch(() => {})
    }
  }

  /** Null where refresh is switched off, paused or left to others, or where another worker makes the run of the day. */
  async #readyMoment(): Promise<(Moment & Promised & { readonly today: Polling }) | null> {
    if (performance.now() < this.#restsUntilMs) return null
    const { collabApi, database, workerId } = this.#context
    const moment = await this.#clock.moment()
    const { at, pausedSince, pausedUntil, refreshBudget: budget } = moment
    this.#pausedUntil = pausedUntil !== null && pausedUntil > at ? pausedUntil : null
    if (budget === null || this.#pausedUntil !== null) return null
    // What a former try was refused must not refuse this one unasked.
    if (pausedSince !== null) collabApi.startAfresh()
    this.#pauses.isPaused = pausedSince !== null
    if (this.#day === null || at >= this.#day.item.until) {
      const item = await refresh.openRun.first(database, { at, workerId })
      this.#day = item
        ? {
            context: this.#context,
            budget: this.#budget,
            clock: this.#clock,
            item,
            failing: new Set(),
            begin: (...poll) => this.#begin(...poll),
            polled: (...poll) => this.#pauses.polled(...poll),
          }
        : null
    }
    this.#waitingMax = Math.max(1, Math.ceil(budget * WAITING_S))
    return this.#day && { ...moment, budget, today: this.#day }
  }

  /** As in Polling. @throws the signal's reason when the worker drains before the poll is begun */
  async #begin(
    poll: () => Promise<void>,
    priority: Priority,
  ): Promise<{ readonly ended: Promise<void> }> {
    const { drained } = this.#context
    while (this.#underWay >= POLLS_MAX || this.#budget.snapshot().waiting >= this.#waitingMax)
      await this.#line.join(drained, priority)
    this.#underWay += 1
    const ended = Promise.resolve(this.#budget.acquire(drained, priority))
      .finally(() => this.#line.letOneGo())
      .then(poll)
      .finally(() => {
        this.#underWay -= 1
        this.#line.letOneGo()
      })
    ended.catch(() => {})
    return { ended }
  }

  /** Ends a page when its polls have ended, or gives it back where one of them could not be made. */
  #endSoon({ page, polls }: BegunPage): void {
    const ending = polls
      .end()
      .then(async (tally) => {
        // Of the day that it is now: the item of the day before may be closed.
        if (this.#day === null) throw new Error('No day has begun.')
        const { item } = this.#day
        const at = this.#clock.now()
        await this.#planner.end(page, at, tally.learned, (client) =>
          tally.write(client, item, page.class, at),
        )
      })
      .catch(async (error: unknown) => {
        await this.#planner.giveBack(page).catch(() => {})
        await this.#failed(error)
      })
      .catch((error: unknown) => this.#context.log.warn({ err: error }, 'refresh'))
      .finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  async #pollHints(): Promise<number> {
    const moment = this.#pauses.isPaused ? null : await this.#readyMoment()
    if (moment === null) return REST_MS
    const share = neededShare(this.#planner.scopes, moment)
    try {
      const tally = await this.#hints.poll(moment.today, { budget: moment.budget, share })
      await tally?.write(this.#context.database, moment.today.item, HINTED, moment.at)
    } catch (error) {
      await this.#failed(error)
    }
    return HINTS_MS
  }

  /** What ended polls and is no failure of their scopes. */
  async #failed(error: unknown): Promise<void> {
    const { drained, log } = this.#context
    if (drained.aborted) return
    if (!(error instanceof CallError && error.concernsEveryCall))
      log.warn({ err: error }, 'refresh')
    else if (error.kind === 'credentials') await this.#pauses.pause(refusal(error))
    else if (await canOthersCall(this.#context))
      this.#restsUntilMs = performance.now() + WITHDRAWN_MS
    else await this.#pauses.pause(describeUnreachable(error))
  }
}

function open(polling: Polling, page: RefreshPage): BegunPage {
  const { at, class: of, keys } = page
  const polls = new Polls(polling, 'normal')
  const units = of === EVERYTHING ? readBatches(polling, keys, at) : readThreads(polling, keys, at)
  return { page, polls, steps: polls.begin(units) }
}
