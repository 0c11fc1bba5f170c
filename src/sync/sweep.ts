import type { Item } from '../database/items.ts'
import { isDataFault } from '../database/pool.ts'
import * as items from '../database/statements/items.ts'
import { inTraceOf } from '../trace.ts'
import { settleRun } from './settle-run.ts'
import type { SyncContext } from './sync-context.ts'

/** Items handed over again in one sweep; the next one brings the rest. */
const ITEMS_A_SWEEP = 1000
/** Sweeps that find the very same items waiting before they are handed over though the queue seems to hold them. */
const PATIENCE_SWEEPS = 3

/** What the queue must offer a sweep. */
export interface SweepQueue {
  deliver(items: readonly Item[]): Promise<void>
  countPending(): Promise<number>
}

/**
 * Takes up what was lost: settles runs of which nothing is pending, and hands items to the queue again that it no longer
 * holds (flushed, restarted without persistence, given up after many attempts, a worker killed between commit and
 * delivery). Handing over what the queue still holds is harmless: one job a key.
 */
export class Sweep {
  readonly #context: SyncContext
  readonly #queue: SweepQueue
  #lastSeen = ''
  #timesSeen = 0

  constructor(context: SyncContext, queue: SweepQueue) {
    this.#context = context
    this.#queue = queue
  }

  /** One sweep. @returns how many items were handed over */
  async once(): Promise<number> {
    const { database, deadAfterS, workerId, itemsInHand } = this.#context
    for (const { runId, traceparent } of await items.unsettled.all(database)) {
      await inTraceOf(traceparent, () => settleRun(this.#context, runId)).catch(
        (error: unknown) => {
          if (!isDataFault(error)) throw error
          // One run that cannot be settled must not keep the others from it.
          this.#context.log.error({ runId, err: error }, 'a run cannot be settled')
        },
      )
    }
    const lost = await items.lost.all(database, {
      deadAfterS,
      limit: ITEMS_A_SWEEP,
      workerId,
      inHand: [...itemsInHand],
    })
    if (lost.length === 0) return 0
    const seen = `${lost.length}:${lost[0]?.itemId}:${lost.at(-1)?.itemId}`
    this.#timesSeen = seen === this.#lastSeen ? this.#timesSeen + 1 : 1
    this.#lastSeen = seen
    const queueHoldsThem = (await this.#queue.countPending()) >= lost.length
    if (queueHoldsThem && this.#timesSeen < PATIENCE_SWEEPS) return 0
    this.#timesSeen = 0
    await this.#queue.deliver(lost)
    return lost.length
  }
}
