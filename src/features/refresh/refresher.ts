import { setTimeout } from 'node:timers/promises'
import * as refresh from '../../core/database/statements/refresh.ts'
import type { SharedRateLimit } from '../../core/service/shared-rate-limit.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import { EVERYTHING, HINTED, neededShare, pollsAPage } from './classes.ts'
import { Planner } from './planner.ts'
import type { Page } from './planner.ts'
import { databaseClock, Polling } from './polling.ts'
import { Polls, readBatches, readThreads } from './polls.ts'

/** Time until the next step if there is nothing to poll. */
const IDLE_MS = 500
/** Time until the next step while PostgreSQL is unavailable, or refresh is off or paused. */
const REST_MS = 1_000
/** Time between two reads of hints. */
const HINTS_MS = 800
/** Limit of the share of the budget for hints. They never use the share that the promise requires. */
const HINTS_SHARE_MAX = 0.5

/** A page whose polls start at once or in several steps. */
interface BegunPage {
  readonly page: Page
  readonly polls: Polls
}

/**
 * Continuous refresh in one worker: polls pages of threads and batches within the budget that all processes share. It does not
 * use the queue.
 */
export class Refresher {
  readonly #context: SyncContext
  readonly #planner: Planner
  readonly polling: Polling
  /** Pages whose polls have all started. */
  readonly #ending = new Set<Promise<void>>()
  /** The page of batches. Its polls start in several steps, and threads are polled in between. */
  #batches: BegunPage | null = null

  constructor(
    context: SyncContext,
    budget: SharedRateLimit,
    clock = databaseClock(context.database),
  ) {
    this.#context = context
    this.#planner = new Planner(context)
    this.polling = new Polling(context, budget, clock)
  }

  /** Refreshes until the worker drains. Errors are logged, and the step is repeated. */
  async run(): Promise<void> {
    await Promise.all([this.#repeat(() => this.step()), this.#repeat(() => this.pollHints())])
    // The worker drains, so the next poll of the page fails, and the page is returned.
    if (this.#batches !== null) await this.#begin(this.#batches, Infinity)
    await this.ended()
  }

  /**
   * Starts the polls that are due next.
   * @returns milliseconds until the next step
   */
  async step(): Promise<number> {
    const moment = await this.polling.ready()
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
   * Polls hinted threads with high priority, within their share of the budget.
   * @returns milliseconds until the next step
   */
  async pollHints(): Promise<number> {
    const beganMs = performance.now()
    const polling = this.polling
    const { database, deadAfterS, workerId } = this.#context
    if (polling.isPaused || polling.item === null) return REST_MS
    // Hints are read often and are few, and what `ready` reads takes longer.
    const { anyHints } = await refresh.anyHints.one(database, { deadAfterS })
    if (!anyHints) return HINTS_MS
    const moment = await polling.ready()
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

  /** Waits for the pages whose polls have all started. */
  async ended(): Promise<void> {
    await Promise.all(this.#ending)
  }

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
    const polling = this.polling
    const { at, class: of, keys } = page
    const read = of === EVERYTHING ? readBatches : readThreads
    return { page, polls: new Polls(polling, read(polling, keys, at)) }
  }

  /** Starts at most `count` polls of a page. @returns whether all have started; then the page finishes by itself */
  async #begin(begun: BegunPage, count: number): Promise<boolean> {
    if (!(await begun.polls.begin(count))) return false
    const ending = this.#end(begun)
      .catch((error: unknown) => this.#context.log.warn({ err: error }, 'refresh'))
      .finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
    return true
  }

  /** Finishes a page after its polls, or returns it if one of them could not be made. */
  async #end({ page, polls }: BegunPage): Promise<void> {
    try {
      await polls.end()
      await this.#planner.end(page, polls, this.polling.clock.now())
    } catch (error) {
      await this.#planner.giveBack(page).catch(() => {})
      await this.polling.failedWith(error)
    }
  }
}
