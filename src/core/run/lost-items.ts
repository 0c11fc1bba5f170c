import type { Item } from '../database/claims.ts'
import { isDataFault } from '../database/connection-errors.ts'
import * as items from '../database/statements/items.ts'
import type { RunContext } from './context.ts'
import { finishRun } from './finish.ts'

/** Items enqueued again at a time; the rest follows the next time. */
const ITEMS_AT_A_TIME = 1000
/** Times that the same items are found waiting before they are enqueued although the queue seems to hold them. */
const SEEN_BEFORE_ENQUEUED = 3

/** What recovery needs of the queue. */
export interface RecoveryQueue {
  deliver(items: readonly Item[]): Promise<void>
  countPending(): Promise<number>
}

/**
 * Recovers lost items. Finishes runs that have no pending items, and enqueues items whose job is gone (Redis flushed or
 * restarted without persistence, attempts exhausted, worker killed between commit and enqueue). Enqueuing an item twice has
 * no effect: jobs are deduplicated by key.
 */
export class LostItems {
  readonly #context: RunContext
  readonly #queue: RecoveryQueue
  #lastSeen = ''
  #timesSeen = 0

  constructor(context: RunContext, queue: RecoveryQueue) {
    this.#context = context
    this.#queue = queue
  }

  /** @returns how many items were enqueued */
  async recover(): Promise<number> {
    const { database, deadAfterS, workerId, itemsInProgress } = this.#context
    for (const { runId } of await items.unsettled.all(database)) {
      await finishRun(this.#context, runId).catch((error: unknown) => {
        if (!isDataFault(error)) throw error
        // One run that cannot be finished must not keep the others from it.
        this.#context.log.error({ runId, err: error }, 'a run cannot be finished')
      })
    }
    const lost = await items.lost.all(database, {
      deadAfterS,
      limit: ITEMS_AT_A_TIME,
      workerId,
      inProgress: [...itemsInProgress.keys()],
    })
    if (lost.length === 0) return 0
    const seen = `${lost.length}:${lost[0]?.itemId}:${lost.at(-1)?.itemId}`
    this.#timesSeen = seen === this.#lastSeen ? this.#timesSeen + 1 : 1
    this.#lastSeen = seen
    const queueHoldsThem = (await this.#queue.countPending()) >= lost.length
    if (queueHoldsThem && this.#timesSeen < SEEN_BEFORE_ENQUEUED) return 0
    this.#timesSeen = 0
    await this.#queue.deliver(lost)
    return lost.length
  }
}
