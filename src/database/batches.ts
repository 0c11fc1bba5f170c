import type { Operation } from '../errors.ts'
import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'

/** A batch and what it is asked for. */
export interface Batch {
  readonly batchKey: number
  readonly operation: Operation
}

/** Batches with something to ask for whose keys follow `afterKey`, in the order of their keys. */
export async function pageBatches(
  database: Database,
  afterKey: number,
  page: {
    operations: readonly Operation[]
    organizationIds: readonly string[] | null
    batches: number
  },
): Promise<Batch[]> {
  const { rows } = await database.query(sql('batches/page'), [
    afterKey,
    page.operations,
    page.organizationIds,
    page.batches,
  ])
  return rows.map((row) => ({ batchKey: row.batch_key, operation: row.operation }))
}

/** A batch as an item of a run names it. */
export interface PlannedBatch extends Batch {
  /** Bit n is '1' where scope n is wanted; null means all. */
  readonly onlyScopes: string | null
}

/** The batches that a narrow run was planned with. */
export async function readPlannedBatches(client: Client, runId: string): Promise<PlannedBatch[]> {
  const { rows } = await client.query(sql('items/of-run'), [runId])
  return rows.map((row) => ({
    batchKey: row.batch_key,
    operation: row.operation,
    onlyScopes: row.only_scopes,
  }))
}

/** How many scopes there are to ask for, as of the last catalog import. */
export async function countScopes(
  database: Database,
  operations: readonly Operation[],
): Promise<number> {
  const { rows } = await database.query(sql('batches/count-scopes'), [operations])
  return rows[0].scopes
}

/** A batch, and the places of some of its active scopes among them, from 0. */
export interface SampledBatch extends Batch {
  readonly places: readonly number[]
}

/**
 * The batches in which the scopes lie that have some positions when all are counted from 0, batch by batch.
 * @param positions below `countScopes`
 */
export async function readBatchesAt(
  database: Database,
  operations: readonly Operation[],
  positions: readonly number[],
): Promise<SampledBatch[]> {
  const { rows } = await database.query(sql('batches/at-positions'), [operations, positions])
  return rows.map((row) => ({
    batchKey: row.batch_key,
    operation: row.operation,
    places: row.places,
  }))
}
