import { transaction } from '../../core/database/pool.ts'
import type { Client } from '../../core/database/pool.ts'
import { RECENT_S } from '../../core/database/scopes.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as refresh from '../../core/database/statements/refresh.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import { batchesAPage, EVERYTHING, nextClass, PAGE_MAX, pollsAPage, weights } from './classes.ts'
import type { Promised } from './classes.ts'
import type { Moment } from './polling.ts'
import type { Polls } from './polls.ts'

/** What one worker polls next. */
export interface Page {
  readonly pageId: number
  /** 0 to 7, as in classes.ts. */
  readonly class: number
  /** Begin of the polls: none is older. */
  readonly at: Date
  /** Threads of classes 0 to 6, batches of class 7. */
  readonly keys: readonly number[]
}

/** A pass of a class, or a check of a batch, begins no sooner than this after the one before: the other classes get the calls. */
const PASS_MIN_S = 5

/**
 * Hands out what to poll next, one transaction a page; several workers plan one after the other.
 *
 * A pass goes through a class from the thread that changed last, with a cursor. Both edges of a pass are those of its begin, so
 * that it misses no thread that grows older meanwhile. A poll that found nothing leaves nothing behind.
 */
export class Planner {
  readonly #context: Pick<SyncContext, 'database' | 'workerId' | 'deadAfterS' | 'operations'>
  /** Pages that this worker works on. */
  readonly #inProgress = new Set<number>()
  /** Scopes of the catalog, as last counted. */
  scopes = 0

  constructor(context: Pick<SyncContext, 'database' | 'workerId' | 'deadAfterS' | 'operations'>) {
    this.#context = context
  }

  /**
   * Plans the next page.
   * @param open the page of batches of which this worker has not begun all polls
   * @returns `open` where polls of those batches are next; null where there is nothing to poll now
   */
  async next(moment: Moment & Promised, open: Page | null): Promise<Page | null> {
    const page = await transaction(this.#context.database, async (client) => {
      const lost = await this.#takeLost(client, moment)
      if (lost !== null) return lost
      await refresh.lockPlanning.run(client)
      const passes = await this.#beginPasses(client, moment)
      const limit = pollsAPage(moment)
      const next = nextClass(passes, weights(passes, moment), limit)
      if (next === null) return null
      const { after, chosen } = next
      const pass = passes[chosen] as Pass
      if (chosen !== EVERYTHING) return this.#planThreads(client, moment, pass, limit, after)
      await refresh.setVirtualTime.run(client, { class: EVERYTHING, virtualTime: after(limit) })
      return open ?? this.#planBatches(client, moment)
    })
    if (page !== null) this.#inProgress.add(page.pageId)
    return page
  }

  /** Ends a page of which each scope was polled, with what its polls counted and learned. */
  async end({ pageId, class: of }: Page, polls: Polls, at: Date): Promise<void> {
    const { database, workerId } = this.#context
    await transaction(database, async (client) => {
      await refresh.lockPlanning.run(client)
      await refresh.endPage.run(client, { pageId, workerId, at, ...polls.learned })
      await polls.write(client, { class: of, at })
    })
    this.#inProgress.delete(pageId)
  }

  /** Gives back a page that is not done: the worker that plans next takes it over. */
  async giveBack({ pageId }: Page): Promise<void> {
    const { database, workerId } = this.#context
    this.#inProgress.delete(pageId)
    await refresh.giveBackPage.run(database, { pageId, workerId })
  }

  /** Takes over a page of threads that no live worker works on. Batches of such a page are due by when they were last checked. */
  async #takeLost(client: Client, { at }: Moment): Promise<Page | null> {
    const { deadAfterS, workerId } = this.#context
    const mine = { workerId, inProgress: [...this.#inProgress], deadAfterS, at }
    const lost = await refresh.takeLostPage.first(client, mine)
    if (lost === undefined) return null
    const { pageId, class: of, ...range } = lost
    const threads = await refresh.page.all(client, { ...range, limit: PAGE_MAX })
    return { pageId, class: of, at, keys: threads.map(({ key }) => key) }
  }

  /** Begins the passes that are due. @returns how far refresh is with each class */
  async #beginPasses(client: Client, { at, snapshot }: Moment): Promise<Pass[]> {
    const operations = [...this.#context.operations]
    const pass = { at, snapshot, operations, leastS: PASS_MIN_S }
    if ((await refresh.beginPasses.run(client, pass)) > 0)
      await refresh.purge.run(client, { at, recentS: RECENT_S })
    const passes = await refresh.readPasses.all(client)
    this.scopes = passes[EVERYTHING]?.threads ?? 0
    return passes
  }

  /** @param after the virtual time of the class after so many polls */
  async #planThreads(
    client: Client,
    { at }: Moment,
    pass: Pass,
    limit: number,
    after: (polls: number) => number,
  ): Promise<Page> {
    const { class: of, afterActiveAt, afterKey, endActiveAt, endKey } = pass
    const from = { fromActiveAt: afterActiveAt as Date, fromKey: afterKey as number }
    const end = { toActiveAt: endActiveAt as Date, toKey: endKey }
    const threads = await refresh.page.all(client, { ...from, ...end, limit })
    const last = threads[limit - 1]
    const { pageId } = await refresh.handOutThreads.one(client, {
      class: of,
      isPlanned: last === undefined,
      ...(last === undefined ? end : { toActiveAt: last.activeAt, toKey: last.key }),
      virtualTime: after(threads.length),
      workerId: this.#context.workerId,
      at,
    })
    return { pageId, class: of, at, keys: threads.map(({ key }) => key) }
  }

  async #planBatches(client: Client, moment: Moment & Promised): Promise<Page | null> {
    const { operations, workerId } = this.#context
    const { at } = moment
    const handedOut = await refresh.handOutBatches.first(client, {
      operations: [...operations],
      limit: batchesAPage(moment),
      notSince: new Date(at.getTime() - PASS_MIN_S * 1000),
      at,
      workerId,
    })
    return handedOut ? { ...handedOut, class: EVERYTHING, at } : null
  }
}

/** How far refresh is with one class. */
type Pass = RowOf<typeof refresh.readPasses>
