import { transaction } from '../../database/pool.ts'
import type { Client } from '../../database/pool.ts'
import type { RowOf } from '../../database/statement.ts'
import * as refresh from '../../database/statements/refresh.ts'
import type { SyncContext } from '../context.ts'
import {
  batchesAPage,
  EVERYTHING,
  fadedOver,
  looksAPage,
  nextClass,
  PAGE_MAX,
  quietTimes,
  virtualTimeAfter,
  weights,
} from './classes.ts'
import type { ClassState, Promised } from './classes.ts'
import { before, beginPass, KEY_MAX, PASS_MIN_S, sweptAt } from './pass.ts'
import type { Moment, RecentThread, RefreshPage, Sweep } from './pass.ts'

/** Batches are handed out by when they were last checked. */
const NO_PASS = {
  pass: 0,
  passStartedAt: null,
  passSnapshot: null,
  fromActiveAt: null,
  fromKey: null,
  toActiveAt: null,
  toKey: null,
}

/**
 * Hands out what to look at next, one transaction a page; several workers plan one after the other.
 *
 * A class is gone through from the thread that changed last, with a cursor; both edges of its pass are those of its begin, so
 * that nobody who grows older meanwhile is missed. Nothing is kept of a look that found nothing.
 */
export class Planner {
  readonly #context: Pick<SyncContext, 'database' | 'workerId' | 'deadAfterS' | 'operations'>
  /** Pages that this worker works on. */
  readonly #inHand = new Set<number>()
  /** Scopes of the catalog, as last counted. */
  scopes = 0

  constructor(context: Pick<SyncContext, 'database' | 'workerId' | 'deadAfterS' | 'operations'>) {
    this.#context = context
  }

  /**
   * The next page.
   * @param moment of the definitions, with a budget
   * @param isSweeping whether this worker has looks left of batches in hand: they are granted before others are handed out
   * @returns `granted` where looks of batches in hand come next; null where nothing is to be looked at now
   */
  async next(
    moment: Moment & Promised,
    isSweeping: boolean,
  ): Promise<RefreshPage | { readonly granted: number } | null> {
    const { database, deadAfterS, operations, workerId } = this.#context
    const page = await transaction(database, async (client) => {
      const mine = { workerId, inHand: [...this.#inHand], deadAfterS }
      await refresh.freeBatches.run(client, mine)
      const lost = await refresh.takeLostPage.first(client, { ...mine, at: moment.at })
      await refresh.lockSweeps.run(client)
      const sweeps = await refresh.readSweeps.all(client)
      if (lost !== undefined) return this.#takeOver(client, moment, sweeps, lost)
      const begun: Sweep[] = []
      for (const sweep of sweeps) {
        const now = await beginPass(client, moment, sweep, operations)
        if (now !== sweep && now.threads > 0) await refresh.writeSweep.run(client, now)
        begun.push(now)
      }
      this.scopes = begun[EVERYTHING]?.threads ?? 0
      return this.#choose(client, moment, begun, isSweeping)
    })
    if (page !== null && 'pageId' in page) this.#inHand.add(page.pageId)
    return page
  }

  /**
   * Ends a page of which each thread was looked at.
   * @param learned what the looks found, of its class
   * @param also written in the same transaction
   */
  async end(
    page: RefreshPage,
    at: Date,
    learned: { readonly found: number; readonly gapS: number },
    also: (client: Client) => Promise<void>,
  ): Promise<void> {
    const { database, workerId } = this.#context
    await transaction(database, async (client) => {
      await refresh.lockSweeps.run(client)
      const sweeps = await refresh.readSweeps.all(client)
      const learnedAt = sweeps[page.class]?.learnedAt ?? at
      const faded = fadedOver((at.getTime() - learnedAt.getTime()) / 1000)
      await refresh.endPage.run(client, { pageId: page.pageId, workerId, at, faded, ...learned })
      await also(client)
    })
    this.#inHand.delete(page.pageId)
  }

  /** A page that is not done: whoever plans next takes it over. */
  async giveBack({ pageId }: RefreshPage): Promise<void> {
    const { database, workerId } = this.#context
    this.#inHand.delete(pageId)
    await refresh.giveBackPage.run(database, { pageId, workerId })
  }

  async #takeOver(
    client: Client,
    { at }: Moment,
    sweeps: readonly Sweep[],
    lost: RowOf<typeof refresh.takeLostPage>,
  ): Promise<RefreshPage> {
    const { pageId, class: of, fromActiveAt, fromKey, toActiveAt, toKey } = lost
    const range = { afterActiveAt: fromActiveAt, afterKey: fromKey, toActiveAt, toKey }
    const threads = await this.#threads(client, sweeps, of, { ...range, limit: PAGE_MAX })
    return { pageId, class: of, at, threads, batches: [] }
  }

  async #threads(
    client: Client,
    sweeps: readonly Sweep[],
    of: number,
    range: Parameters<typeof refresh.page.all>[1],
  ): Promise<RecentThread[]> {
    const found = await refresh.page.all(client, range)
    return found.map((thread) => ({ ...thread, sweptAt: sweptAt(sweeps, of, thread.activeAt) }))
  }

  async #choose(
    client: Client,
    moment: Moment & Promised,
    sweeps: readonly Sweep[],
    isSweeping: boolean,
  ): Promise<RefreshPage | { readonly granted: number } | null> {
    const looks = looksAPage(moment)
    const classes = sweeps.map(stateOf)
    const weighed = weights(classes, moment)
    const next = nextClass(classes, weighed, looks)
    if (next === null) return null
    const { at, chosen } = next
    const after = (made: number) => virtualTimeAfter(at, made, weighed[chosen] ?? 0)
    const sweep = sweeps[chosen] as Sweep
    if (chosen !== EVERYTHING)
      return this.#handOutThreads(client, moment, sweeps, sweep, { limit: looks, after })
    await refresh.writeSweep.run(client, { ...sweep, virtualTime: after(looks) })
    if (isSweeping) return { granted: looks }
    return this.#handOutBatches(client, moment)
  }

  async #handOutThreads(
    client: Client,
    { at }: Moment,
    sweeps: readonly Sweep[],
    sweep: Sweep,
    { limit, after }: { limit: number; after: (looks: number) => number },
  ): Promise<RefreshPage> {
    const { class: of, pass, startedAt, snapshot, afterActiveAt, afterKey } = sweep
    const from = { afterActiveAt: afterActiveAt as Date, afterKey: afterKey ?? 0 }
    const lowest = before(startedAt as Date, quietTimes(of).toS)
    const range = { ...from, toActiveAt: lowest, toKey: KEY_MAX, limit }
    const threads = await this.#threads(client, sweeps, of, range)
    const isPlanned = threads.length < limit
    const last = isPlanned ? undefined : threads.at(-1)
    const [toActiveAt, toKey] = last ? [last.activeAt, last.key] : [lowest, KEY_MAX]
    await refresh.writeSweep.run(client, {
      ...sweep,
      virtualTime: after(threads.length),
      isPlanned,
      afterActiveAt: toActiveAt,
      afterKey: toKey,
    })
    const { pageId } = await refresh.insertPage.one(client, {
      class: of,
      pass,
      passStartedAt: startedAt,
      passSnapshot: snapshot,
      fromActiveAt: from.afterActiveAt,
      fromKey: from.afterKey,
      toActiveAt,
      toKey,
      batchKeys: null,
      workerId: this.#context.workerId,
      at,
    })
    return { pageId, class: of, at, threads, batches: [] }
  }

  async #handOutBatches(client: Client, moment: Moment & Promised): Promise<RefreshPage | null> {
    const { at } = moment
    const { operations, workerId } = this.#context
    const limit = batchesAPage(moment)
    const batches = await refresh.batches.all(client, {
      operations: [...operations],
      limit,
      notSince: before(at, PASS_MIN_S),
      at,
    })
    if (batches.length === 0) return null
    const { pageId } = await refresh.insertPage.one(client, {
      ...NO_PASS,
      class: EVERYTHING,
      batchKeys: batches.map(({ batchKey }) => batchKey),
      workerId,
      at,
    })
    return { pageId, class: EVERYTHING, at, threads: [], batches }
  }
}

function stateOf({ class: of, threads, virtualTime, found, gapS, isPlanned }: Sweep): ClassState {
  return { threads, virtualTime, found, gapS, isReady: of === EVERYTHING || !isPlanned }
}
