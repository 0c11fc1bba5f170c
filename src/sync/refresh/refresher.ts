import { setTimeout } from 'node:timers/promises'
import * as refresh from '../../database/statements/refresh.ts'
import { CallError } from '../../errors.ts'
import { describeUnreachable } from '../../service/reach.ts'
import type { SharedRateLimit } from '../../service/wait.ts'
import { WaitLine } from '../../service/wait.ts'
import type { SyncContext } from '../context.ts'
import { canOthersCall, refusal } from '../run/settle.ts'
import { EVERYTHING, HINTED, looksAPage, neededShare, type Promised } from './classes.ts'
import { Clock } from './clock.ts'
import { Hints } from './hints.ts'
import { Planner } from './plan.ts'
import type { Moment, RefreshPage } from './pass.ts'
import { SweptPage } from './sweep.ts'
import { lookAtThreads } from './look.ts'
import { LooksSoFar, NotedFailures } from './looking.ts'
import type { Looking } from './looking.ts'
import { Pauses } from './pauses.ts'

/** Between two looks for something to do, where there is nothing. */
const IDLE_MS = 500
/** Between two tries while PostgreSQL is away, or refresh is switched off or paused. */
const REST_MS = 1_000
/** A worker that cannot reach the service leaves refresh to those that can for so long. */
const WITHDRAWN_MS = 60_000
/** Between two looks for hints. */
const HINTS_MS = 400
/** Looks that wait for the budget: enough for the time that it takes to plan the next ones. */
const WAITING_S = 0.5
/** Looks under way at a time, those that wait for another try included: then the service is slower than the budget. */
const LOOKS_MAX = 512

/**
 * What one worker does of continuous refresh, until it is stopped: pages of threads and batches, each call within the budget
 * that all processes share. BullMQ has no part in it: to lose its queue loses nothing here.
 */
export class Refresher {
  readonly #context: SyncContext
  readonly #budget: SharedRateLimit
  readonly #clock: Clock
  readonly #planner: Planner
  readonly #hints = new Hints()
  readonly #line = new WaitLine()
  #restsUntilMs = 0
  #pausedUntil: Date | null = null
  /** Pages of which all looks are begun. */
  readonly #ending = new Set<Promise<void>>()
  /** Batches in hand, which are looked at a portion at a time. */
  readonly #swept: SweptPage[] = []
  #day: (Looking & { readonly item: { readonly until: Date } }) | null = null
  #under = 0
  #waiting = 0
  #waitingMax = 1
  readonly #pauses: Pauses
  readonly #shared: Omit<Looking, 'item' | 'noted'>

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
    const pauses = new Pauses(context, () => clock.now())
    this.#pauses = pauses
    this.#shared = { context, budget, clock, looked: (...look) => pauses.looked(...look) }
  }

  /** The item that holds what this worker does today; null before its first look. */
  get itemId(): number | null {
    return this.#day?.item.itemId ?? null
  }

  /** Until when refresh is paused for all workers; null where it is not. */
  get pausedUntil(): Date | null {
    return this.#pausedUntil
  }

  /** Refreshes until the worker drains. Never rejects: what fails is logged and tried again. */
  async run(): Promise<void> {
    await Promise.all([this.#repeat(() => this.step()), this.#repeat(() => this.#lookAtHints())])
    for (const page of this.#swept.splice(0)) {
      page.failed(new Error('The worker is stopping.'))
      this.#endSoon(page.page, page.end())
    }
    await Promise.all(this.#ending)
  }

  /**
   * Begins the looks that are due next.
   * @returns milliseconds to rest before the next step
   */
  async step(): Promise<number> {
    const moment = await this.#readyMoment()
    if (moment === null) return REST_MS
    const next = await this.#planner.next(moment, this.#swept.length > 0)
    if (next === null) return IDLE_MS
    const looks = looksAPage(moment)
    if ('granted' in next) await this.#sweep(next.granted)
    else if (next.class !== EVERYTHING) await this.#lookAtThreads(moment.today, next)
    else {
      this.#swept.push(new SweptPage(moment.today, next))
      await this.#sweep(looks)
    }
    return 0
  }

  /** Waits until every look that is begun has ended. */
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
  async #readyMoment(): Promise<(Moment & Promised & { readonly today: Looking }) | null> {
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
      this.#day = item ? { ...this.#shared, item, noted: new NotedFailures() } : null
    }
    this.#waitingMax = Math.max(1, Math.ceil(budget * WAITING_S))
    return this.#day && { ...moment, budget, today: this.#day }
  }

  /** Begins a look: its call is sent when the budget allows it. @throws the signal's reason when the worker drains first */
  async #begin(look: () => Promise<void>): Promise<{ readonly ended: Promise<void> }> {
    const { drained } = this.#context
    while (this.#under >= LOOKS_MAX || this.#waiting >= this.#waitingMax)
      await this.#line.join(drained)
    this.#under += 1
    this.#waiting += 1
    const ended = Promise.resolve(this.#budget.acquire(drained))
      .finally(() => {
        this.#waiting -= 1
        this.#line.letOneGo()
      })
      .then(look)
      .finally(() => {
        this.#under -= 1
        this.#line.letOneGo()
      })
    ended.catch(() => {})
    return { ended }
  }

  async #lookAtThreads(looking: Looking, page: RefreshPage): Promise<void> {
    const { at, threads } = page
    const soFar = new LooksSoFar()
    const sweptAt = new Map(threads.map((each) => [each.key, each.sweptAt]))
    const { ended } = await lookAtThreads(looking, soFar, {
      keys: threads.map(({ key }) => key),
      at,
      priority: 'normal',
      begin: (look) => this.#begin(look),
      looked: ({ key, checkedAt, organizationKey }, looked) => {
        const before = Math.max(Number(sweptAt.get(key)), Number(checkedAt))
        soFar.learn(looked, before > 0 ? at.getTime() - before : null)
        looking.looked(looked, organizationKey)
      },
    })
    this.#endSoon(
      page,
      ended.then(() => soFar),
    )
  }

  /** Begins so many looks of the batches in hand. */
  async #sweep(looks: number): Promise<void> {
    let left = looks
    while (left > 0 && this.#swept[0] !== undefined) {
      const [page] = this.#swept
      left = await page.begin(left, (look) => this.#begin(look))
      if (!page.isBegun) continue
      this.#swept.shift()
      this.#endSoon(page.page, page.end())
    }
  }

  /** Ends a page when its looks have ended, or gives it back where one of them could not be made. */
  #endSoon(page: RefreshPage, looks: Promise<LooksSoFar>): void {
    const ending = looks
      .then(async (soFar) => {
        // Of the day that it is now: the item of the day before may be closed.
        if (this.#day === null) throw new Error('No day has begun.')
        const { item } = this.#day
        const at = await this.#clock.now()
        await this.#planner.end(page, at, soFar.learned, (client) =>
          soFar.write(client, item, page.class, at),
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

  async #lookAtHints(): Promise<number> {
    const moment = this.#pauses.isPaused ? null : await this.#readyMoment()
    if (moment === null) return REST_MS
    const share = neededShare(this.#planner.scopes, moment)
    try {
      const looks = await this.#hints.look(moment.today, { budget: moment.budget, share })
      await looks?.write(this.#context.database, moment.today.item, HINTED, moment.at)
    } catch (error) {
      await this.#failed(error)
    }
    return HINTS_MS
  }

  /** What ended looks and is no failure of their scopes. */
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
