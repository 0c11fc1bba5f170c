import { lock } from '../../core/database/locks.ts'
import { transaction } from '../../core/database/pool.ts'
import type { Client } from '../../core/database/pool.ts'
import { RECENT_S } from '../../core/database/scopes.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as refresh from '../../core/database/statements/refresh.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import { batchPollsAPage, EVERYTHING, nextClass, PAGE_MAX, pollsAPage, weights } from './classes.ts'
import type { Promised } from './classes.ts'
import type { Moment } from './polling.ts'
import type { Polls } from './polls.ts'

/** Polls that one worker makes together. */
export interface Page {
  readonly pageId: number
  /** 0 to 7, as in classes.ts. */
  readonly class: number
  /** Start of the polls. */
  readonly at: Date
  /** Threads of classes 0 to 6, batches of class 7. */
  readonly keys: readonly number[]
}

/** The least time between two passes of a class, or two checks of a batch. The other classes get the calls meanwhile. */
const PASS_MIN_S = 5

/**
 * Plans the pages of a worker, each in one transaction. One worker plans at a time.
 *
 * A pass goes through a class with a cursor, from the latest change to the earliest. The limits of a pass are those of its start,
 * so that it misses no thread that leaves the class meanwhile. A poll that found nothing writes nothing.
 */
export class Planner {
  readonly #context: Pick<SyncContext, 'database' | 'workerId' | 'deadAfterS' | 'operations'>
  /** Pages of this worker. */
  readonly #inProgress = new Set<number>()
  /** Number of scopes in the catalog, as last counted. */
  scopes = 0

  constructor(context: Pick<SyncContext, 'database' | 'workerId' | 'deadAfterS' | 'operations'>) {
    this.#context = context
  }

  /**
   * Plans the next page.
   * @param open a page of batches if not all of its polls have started
   * @returns `open` if its batches are next; null if there is nothing to poll now
   */
  async next(moment: Moment & Promised, open: Page | null): Promise<Page | null> {
    const page = await transaction(this.#context.database, async (client) => {
      const lost = await this.#takeLost(client, moment)
      if (lost !== null) return lost
      await lock(client, 'refresh')
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

  /** Finishes a page after all its polls, with their counts. */
  async end({ pageId, class: of }: Page, polls: Polls, at: Date): Promise<void> {
    const { database, workerId } = this.#context
    await transaction(database, async (client) => {
      await lock(client, 'refresh')
      await refresh.endPage.run(client, { pageId, workerId, at, ...polls.learned })
      await polls.write(client, { class: of, at })
    })
    this.#inProgress.delete(pageId)
  }

  /** Returns an unfinished page. The next worker that plans takes it over. */
  async giveBack({ pageId }: Page): Promise<void> {
    const { database, workerId } = this.#context
    this.#inProgress.delete(pageId)
    await refresh.giveBackPage.run(database, { pageId, workerId })
  }

  /** Takes over a page of threads whose worker is dead. Pages of batches are dropped, because batches are due by their last check. */
  async #takeLost(client: Client, { at }: Moment): Promise<Page | null> {
    const { deadAfterS, workerId } = this.#context
    const mine = { workerId, inProgress: [...this.#inProgress], deadAfterS, at }
    const lost = await refresh.takeLostPage.first(client, mine)
    if (lost === undefined) return null
    const { pageId, class: of, ...range } = lost
    const threads = await refresh.page.all(client, { ...range, limit: PAGE_MAX })
    return { pageId, class: of, at, keys: threads.map(({ key }) => key) }
  }

  /** Starts the passes that are due. @returns the progress of each class */
  async #beginPasses(client: Client, { at, snapshot }: Moment): Promise<Pass[]> {
    const operations = [...this.#context.operations]
    const pass = { at, snapshot, operations, leastS: PASS_MIN_S }
    if ((await refresh.beginPasses.run(client, pass)) > 0)
      await refresh.purge.run(client, { at, recentS: RECENT_S })
    const passes = await refresh.readPasses.all(client)
    this.scopes = passes[EVERYTHING]?.threads ?? 0
    return passes
  }

  /** @param after returns the virtual time of the class after a number of polls */
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
    const { pageId } = await refresh.claimThreads.one(client, {
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
    const claimed = await refresh.claimBatches.first(client, {
      operations: [...operations],
      polls: batchPollsAPage(moment),
      notSince: new Date(at.getTime() - PASS_MIN_S * 1000),
      at,
      workerId,
    })
    return claimed ? { ...claimed, class: EVERYTHING, at } : null
  }
}

type Pass = RowOf<typeof refresh.readPasses>
