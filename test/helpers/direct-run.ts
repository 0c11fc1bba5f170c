import type { App } from '../../src/worker/app.ts'
import type { Item } from '../../src/core/database/claims.ts'
import type { NewRun } from '../../src/core/database/runs.ts'
import { syncBatch } from '../../src/core/sync/batch.ts'
import { finishRun } from '../../src/core/run/finish.ts'
import { planPage, startRun } from '../../src/core/run/start.ts'

/** A run with an item that stayed pending after all deliveries. */
export class EndlessRunError extends Error {
  override name = 'EndlessRunError'
}

/** Items processed at a time, as in a worker. */
const IN_HAND = 4
/** More deliveries than attempts of an item without progress, after which it fails. */
const DELIVERIES_MAX = 20

/**
 * Processes one run in this process, without the queue and its worker, which cost more than the sync of a small world.
 * @returns the run's id
 * @throws EndlessRunError where the run has no end
 */
export async function runDirectly({ sync }: App, request: NewRun): Promise<string> {
  const { runId, items } = await startRun(sync, request)
  await endDirectly({ sync }, runId, items)
  return runId
}

/** Processes the pending items of a run, as {@link runDirectly} does. @throws EndlessRunError where the run has no end */
export async function endDirectly(
  { sync }: Pick<App, 'sync'>,
  runId: string,
  items: readonly Item[],
): Promise<void> {
  const line: Item[] = [...items]
  const work = async () => {
    for (let item = line.shift(); item !== undefined; item = line.shift())
      line.push(...(await deliver(sync, item)))
  }
  // Items follow from pages, which are processed first.
  while (line.length > 0) await Promise.all(Array.from({ length: IN_HAND }, work))
  await sync.sentCalls.write()
  await finishRun(sync, runId)
  // A run whose credentials were refused has finished by itself.
  const { rowCount } = await sync.database.query(
    'select from sync.runs where run_id = $1 and finished_at is null',
    [runId],
  )
  if (rowCount !== 0)
    throw new EndlessRunError(`Run ${runId} did not end after ${DELIVERIES_MAX} deliveries.`)
}

/** Delivers a failed item again, as a queue does. @returns the items that follow it */
async function deliver(sync: App['sync'], item: Item): Promise<readonly Item[]> {
  for (let delivery = 1; delivery <= DELIVERIES_MAX; delivery++) {
    try {
      if (item.kind !== 'sync-batch') return await planPage(sync, item)
      await syncBatch(sync, item)
      return []
    } catch (error) {
      sync.log.warn({ err: error, delivery }, 'an item failed')
    }
  }
  return []
}
