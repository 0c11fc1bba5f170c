import type { Item } from '../database/claims.ts'
import { isDataFault } from '../database/connection-errors.ts'
import * as items from '../database/statements/items.ts'
import type { RunContext } from './context.ts'
import { finishRun } from './finish.ts'

/** Items enqueued again at a time; the rest follows the next time. */
const ITEMS_AT_A_TIME = 200

/**
 * Recovers lost items. Finishes runs that have no pending items, and enqueues items whose job is gone (Redis flushed or
 * restarted without persistence, attempts exhausted, worker killed between commit and enqueue). An item that no worker has
 * claimed may still have its job; enqueuing it again has no effect, since jobs are deduplicated by key.
 */
export async function recoverLostItems(
  context: RunContext,
  deliver: (items: readonly Item[]) => Promise<void>,
): Promise<void> {
  const { database, deadAfterS, workerId, itemsInProgress } = context
  for (const { runId } of await items.unfinished.all(database)) {
    await finishRun(context, runId).catch((error: unknown) => {
      if (!isDataFault(error)) throw error
      // One run that cannot be finished must not keep the others from it.
      context.log.error({ runId, err: error }, 'a run cannot be finished')
    })
  }
  const limit = ITEMS_AT_A_TIME
  const inProgress = [...itemsInProgress.keys()]
  const lost = await items.lost.all(database, { deadAfterS, limit, workerId, inProgress })
  if (lost.length > 0) await deliver(lost)
}
