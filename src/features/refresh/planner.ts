import { transaction } from '../../core/database/pool.ts'
import type { Client } from '../../core/database/pool.ts'
import { RECENT_S } from '../../core/database/scopes.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as refresh from '../../core/database/statements/refresh.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import {
  batchesAPage,
  EVERYTHING,
  nextClass,
  PAGE_MAX,
  pollsAPage,
  virtualTimeAfter,
  weights,
} from './classes.ts'
import type { Promised } from './classes.ts'
import type { Moment } from './clock.ts'

/** How far refresh is with one class. */
type Sweep = RowOf<typeof refresh.readSweeps>

/** What one worker polls next. */
export interface RefreshPage {
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

/** Above every key. */
const KEY_MAX = 2 ** 31 - 1

const NO_RANGE = { fromActiveAt: null, fromKey: null, toActiveAt: null, toKey: null }

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
   * @param moment of the definitions, with a budget
   * @param isSweeping whether this worker still polls a page of batches
   * @returns `continue` where a page's worth of polls of those batches is next; null where there is nothing to poll now
   */
  async next(
    moment: Moment & Promised,
    isSweeping: boolean,
  ): Promise<RefreshPage | 'continue' | null> {
    const { database, deadAfterS, operations, workerId } = this.#context
    const page = await transaction(database, async (client) => {
      const mine = { workerId, inProgress: [...this.#inProgress], deadAfterS }
      await refresh.freeBatches.run(client, mine)
      const lost = await refresh.takeLostPage.first(client, { ...mine, at: moment.at })
      if (lost !== undefined) {
        const { pageId, class: of, ...range } = lost
        const threads = await refresh.page.all(client, { ...range, limit: PAGE_MAX })
        return { pageId, class: of, at: moment.at, keys: threads.map(({ key }) => key) }
      }
      await refresh.lockSweeps.run(client)
      const { at, snapshot } = moment
      const pass = {
        at,
        snapshot,
        operations: [...operations],
        lastKey: KEY_MAX,
        leastS: PASS_MIN_S,
      }
      if ((await refresh.beginPasses.run(client, pass)) > 0)
        await refresh.purge.run(client, { at, recentS: RECENT_S })
      const sweeps = await refresh.readSweeps.all(client)
      this.scopes = sweeps[EVERYTHING]?.threads ?? 0
      return this.#choose(client, moment, sweeps, isSweeping)
    })
    if (page !== null && page !== 'continue') this.#inProgress.add(page.pageId)
    return page
  }

  /**
   * Ends a page of which each scope was polled.
   * @param learned what the polls say of the class
   * @param also written in the same transaction
   */
  async end(
    { pageId }: RefreshPage,
    at: Date,
    learned: { readonly found: number; readonly gapS: number },
    also: (client: Client) => Promise<void>,
  ): Promise<void> {
    const { database, workerId } = this.#context
    await transaction(database, async (client) => {
      await refresh.lockSweeps.run(client)
      await refresh.endPage.run(client, { pageId, workerId, at, ...learned })
      await also(client)
    })
    this.#inProgress.delete(pageId)
  }

  /** Gives back a page that is not done: the worker that plans next takes it over. */
  async giveBack({ pageId }: RefreshPage): Promise<void> {
    const { database, workerId } = this.#context
    this.#inProgress.delete(pageId)
    await refresh.giveBackPage.run(database, { pageId, workerId })
  }

  async #choose(
    client: Client,
    moment: Moment & Promised,
    sweeps: readonly Sweep[],
    isSweeping: boolean,
  ): Promise<RefreshPage | 'continue' | null> {
    const limit = pollsAPage(moment)
    const classes = sweeps.map((sweep) => {
      return { ...sweep, isReady: sweep.class === EVERYTHING || !sweep.isPlanned }
    })
    const weighed = weights(classes, moment)
    const next = nextClass(classes, weighed, limit)
    if (next === null) return null
    const { at, chosen } = next
    const sweep = sweeps[chosen] as Sweep
    const after = (polls: number) => virtualTimeAfter(at, polls, weighed[chosen] ?? 0)
    if (chosen !== EVERYTHING) return this.#planThreads(client, moment, sweep, { limit, after })
    await refresh.writeSweep.run(client, { ...sweep, virtualTime: after(limit) })
    return isSweeping ? 'continue' : this.#planBatches(client, moment)
  }

  async #planThreads(
    client: Client,
    { at }: Moment,
    sweep: Sweep,
    { limit, after }: { limit: number; after: (polls: number) => number },
  ): Promise<RefreshPage> {
    const { class: of, afterActiveAt, afterKey, toActiveAt } = sweep
    const from = { fromActiveAt: afterActiveAt as Date, fromKey: afterKey ?? 0 }
    const end = { toActiveAt: toActiveAt as Date, toKey: KEY_MAX }
    const threads = await refresh.page.all(client, { ...from, ...end, limit })
    const isPlanned = threads.length < limit
    const last = isPlanned ? undefined : threads.at(-1)
    const to = last ? { toActiveAt: last.activeAt, toKey: last.key } : end
    await refresh.writeSweep.run(client, {
      ...sweep,
      virtualTime: after(threads.length),
      isPlanned,
      afterActiveAt: to.toActiveAt,
      afterKey: to.toKey,
    })
    const keys = threads.map(({ key }) => key)
    return this.#insert(client, { class: of, at, keys }, { ...from, ...to, batchKeys: null })
  }

  async #planBatches(client: Client, moment: Moment & Promised): Promise<RefreshPage | null> {
    const { at } = moment
    const batches = await refresh.batches.all(client, {
      operations: [...this.#context.operations],
      limit: batchesAPage(moment),
      notSince: new Date(at.getTime() - PASS_MIN_S * 1000),
      at,
    })
    if (batches.length === 0) return null
    const keys = batches.map(({ batchKey }) => batchKey)
    return this.#insert(client, { class: EVERYTHING, at, keys }, { ...NO_RANGE, batchKeys: keys })
  }

  async #insert(
    client: Client,
    page: Omit<RefreshPage, 'pageId'>,
    of: Omit<Parameters<typeof refresh.insertPage.one>[1], 'class' | 'workerId' | 'at'>,
  ): Promise<RefreshPage> {
    const { workerId } = this.#context
    const where = { ...of, class: page.class, workerId, at: page.at }
    const { pageId } = await refresh.insertPage.one(client, where)
    return { pageId, ...page }
  }
}
