import type { Database } from './pool.ts'
import { sql } from './sql.ts'
import { DEAD_AFTER_S } from './workers.ts'

export type ItemKind = 'page-organizations' | 'page-documents' | 'sync-batch'

/** A piece of a run, as the queue delivers it. */
export interface Item {
  readonly runId: string
  readonly itemId: number
  readonly kind: ItemKind
  /** The queue serves low rounds first. */
  readonly round: number
  /** Where its run began in a trace, for whoever hands it over outside of that trace. */
  readonly traceparent?: string | null
}

/** Rows of the planning statements, as items to hand to the queue. */
export function toItems(runId: string, rows: readonly Record<string, unknown>[]): Item[] {
  return rows.map((row) => ({
    runId,
    itemId: row['item_id'] as number,
    kind: row['kind'] as ItemKind,
    round: row['round'] as number,
  }))
}

/** Whether anything of a run is still to be done. */
export async function hasPendingItems(database: Database, runId: string): Promise<boolean> {
  const { rows } = await database.query({
    name: 'items/any-pending',
    text: sql('items/any-pending'),
    values: [runId],
  })
  return rows[0].pending
}

/**
 * Ends what is pending of a run that is stopping: what was not asked is skipped. What a live worker has in hand is left
 * to it.
 * @param itemId what this worker itself has in hand of it, or null
 */
export async function skipItems(
  database: Database,
  runId: string,
  itemId: number | null,
): Promise<void> {
  await database.query(sql('items/skip'), [runId, itemId, DEAD_AFTER_S])
}

/** Items of runs under way that no live worker has in hand; of its own, the asking worker knows. */
export async function readLostItems(
  database: Database,
  deadAfterS: number,
  max: number,
  asking: { workerId: string; itemsInHand: Iterable<number> },
): Promise<Item[]> {
  const values = [deadAfterS, max, asking.workerId, [...asking.itemsInHand]]
  const { rows } = await database.query(sql('items/lost'), values)
  return rows.map((row) => ({
    runId: row.run_id,
    itemId: row.item_id,
    kind: row.kind,
    round: row.round,
    traceparent: row.traceparent,
  }))
}

/** Runs under way of which nothing is pending. */
export async function readUnsettledRuns(
  database: Database,
): Promise<{ runId: string; traceparent: string | null }[]> {
  const { rows } = await database.query(sql('items/unsettled'))
  return rows.map((row) => ({ runId: row.run_id, traceparent: row.traceparent }))
}
