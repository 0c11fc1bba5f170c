import { setTimeout } from 'node:timers/promises'
import * as refresh from '../../core/database/statements/refresh.ts'
import type { SharedRateLimit } from '../../core/service/wait.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import { EVERYTHING, HINTED, neededShare, pollsAPage } from './classes.ts'
import { Planner } from './planner.ts'
import type { Page } from './planner.ts'
import { databaseClock, Polling } from './polling.ts'
import { Polls, readBatches, readThreads } from './polls.ts'

/** Between two steps where there is nothing to poll. */
const IDLE_MS = 500
/** Between two tries while PostgreSQL is unavailable, or refresh is switched off or paused. */
const REST_MS = 1_000
/** Between two reads of hints. */
const HINTS_MS = 400
/** Hints take at most this part of the budget, and never what the promise needs. */
const HINTS_SHARE_MAX = 0.5

/** A page whose polls are begun, all at once or in several steps. */
interface BegunPage {
  readonly page: Page
  readonly polls: Polls
}

/**
 * What one worker does of continuous refresh, until it is stopped: pages of threads and batches, each call within the budget
 * that all processes share. It does not use the queue, so that a lost queue loses nothing here.
 */
export class Refresher {
  readonly #context: SyncContext
  readonly #planner: Planner
  readonly #polling: Polling
  /** Pages of which all polls are begun. */
  readonly #ending = new Set<Promise<void>>()
  /** The page of batches: its polls are begun in several steps, and threads are polled in between. */
  #batches: BegunPage | null = null

  /** @param clock the time and the definitions; PostgreSQL's own when left out */
  constructor(
    context: SyncContext,
    budget: SharedRateLimit,
    clock = databaseClock(context.database),
  ) {
    this.#context = context
    this.#planner = new Planner(context)
    this.#polling = new Polling(context, budget, clock)
  }

  /** The item that counts what this worker does today; null before its first poll. */
  get itemId(): number | null {
    return this.#polling.item?.itemId ?? null
  }

  /** Until when refresh is paused for all workers; null where it is not. */
  get pausedUntil(): Date | null {
    return this.#polling.pausedUntil
  }

  /** Refreshes until the worker drains. Never rejects: what fails is logged and tried again. */
  async run(): Promise<void> {
    await Promise.all([this.#repeat(() => this.step()), this.#repeat(() => this.pollHints())])
    // Its next poll is refused, since the worker drains: it is given back.
    if (this.#batches !== null) await this.#begin(this.#batches, Infinity)
    await this.ended()
  }

  /**
   * Begins the polls that are due next.
   * @returns milliseconds to rest before the next step
   */
  async step(): Promise<number> {
    const moment = await this.#polling.ready()
    if (moment === null) return REST_MS
    const page = await this.#planner.next(moment, this.#batches?.page ?? null)
    if (page === null) return IDLE_MS
    if (page.class !== EVERYTHING) await this.#begin(this.#open(page), Infinity)
    else {
      this.#batches ??= this.#open(page)
      if (await this.#begin(this.#batches, pollsAPage(moment))) this.#batches = null
    }
    return 0
  }

  /**
   * Polls the threads that callers have reported as changed, before others, within their part of the budget.
   * @returns milliseconds to rest before the next ones
   */
  async pollHints(): Promise<number> {
    const beganMs = performance.now()
    const polling = this.#polling
    const { database, deadAfterS, workerId } = this.#context
    const isIdle = polling.isPaused || polling.item === null
    const moment = isIdle ? null : await polling.ready()
    if (moment === null) return REST_MS
    const share = Math.min(HINTS_SHARE_MAX, 1 - neededShare(this.#planner.scopes, moment))
    if (share <= 0) return REST_MS
    const callsPerSecond = moment.budget * share
    const limit = Math.max(1, Math.floor(callsPerSecond))
    const taken = await refresh.takeHints.all(database, { workerId, limit, deadAfterS })
    if (taken.length === 0) return HINTS_MS
    const keys = taken.map(({ key }) => key)
    const polls = new Polls(polling, readThreads(polling, keys, polling.clock.now()), 'high')
    try {
      await polls.begin()
      await polls.end()
      await refresh.endHints.run(database, { keys, workerId })
      await polls.write(database, { class: HINTED, at: moment.at })
    } catch (error) {
      await polling.failedWith(error)
    }
    return Math.max(0, beganMs + (1000 * keys.length) / callsPerSecond - performance.now())
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

  #open(page: Page): BegunPage {
    const polling = this.#polling
    const { at, class: of, keys } = page
    const read = of === EVERYTHING ? readBatches : readThreads
    return { page, polls: new Polls(polling, read(polling, keys, at)) }
  }

  /** Begins polls of a page, `count` at most. @returns whether all are begun: the page then ends by itself */
  async #begin(begun: BegunPage, count: number): Promise<boolean> {
    if (!(await begun.polls.begin(count))) return false
    const ending = this.#end(begun)
      .catch((error: unknown) => this.#context.log.warn({ err: error }, 'refresh'))
      .finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
    return true
  }

  /** Ends a page when its polls have ended, or gives it back where one of them could not be made. */
  async #end({ page, polls }: BegunPage): Promise<void> {
    try {
      await polls.end()
      await this.#planner.end(page, polls, this.#polling.clock.now())
    } catch (error) {
      await this.#planner.giveBack(page).catch(() => {})
      await this.#polling.failedWith(error)
    }
  }
}
