import type { Operation } from '../errors.ts'
import type { Scope } from '../scope.ts'
import { toItems } from './items.ts'
import type { Item } from './items.ts'
import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'

/** Who asked for a run. */
export type Trigger = 'schedule' | 'cli' | 'http' | 'api'

export interface NewRun {
  readonly trigger: Trigger
  readonly scope: Scope
  /** Names the request, so that one delivered twice makes one run; null where it cannot come twice. */
  readonly requestKey: string | null
  /** The request's place in its trace, where there is one. */
  readonly traceparent?: string | null
}

/** @returns the new run's id; null where the request made one already, or a scheduled run is under way */
export async function insertRun(client: Client, run: NewRun): Promise<string | null> {
  const values = [run.trigger, run.scope, run.requestKey, run.traceparent ?? null]
  const { rows } = await client.query(sql('runs/insert'), values)
  return rows[0]?.run_id ?? null
}

/** The run that a request made. */
export async function findRunByRequest(
  on: Database | Client,
  requestKey: string,
): Promise<string | null> {
  const { rows } = await on.query(sql('runs/find-by-request'), [requestKey])
  return rows[0]?.run_id ?? null
}

/** Plans a run that pages organizations: its first item, or none where the catalog holds nothing for it. */
export async function planPaging(
  client: Client,
  runId: string,
  operations: readonly Operation[],
  organizationIds: readonly string[] | null,
): Promise<Item[]> {
  const expected = await client.query(sql('runs/expect-scopes'), [
    runId,
    operations,
    organizationIds,
  ])
  if (expected.rows[0].scopes_expected === 0) return []
  const { rows } = await client.query(sql('items/insert-first'), [runId])
  return toItems(runId, rows)
}

/**
 * Plans a narrow run in full.
 * @param statement a statement of `sql/queries/items/` that inserts items for `$1` = the run
 */
export async function planAtOnce(
  client: Client,
  runId: string,
  plans: readonly { statement: string; parameters: readonly unknown[] }[],
): Promise<Item[]> {
  const items: Item[] = []
  for (const { statement, parameters } of plans) {
    const { rows } = await client.query(sql(statement), [runId, ...parameters])
    items.push(...toItems(runId, rows))
  }
  await client.query(sql('runs/expect-planned'), [runId])
  return items
}

/** A worker begins a run; harmless when it has begun. */
export async function beginRun(database: Database, runId: string): Promise<void> {
  await database.query(sql('runs/begin'), [runId])
}

/** Adds calls that were sent, and the further tries among them, to a run, whether it is settled or not. */
export async function addCalls(
  database: Database,
  runId: string,
  calls: number,
  retries: number,
): Promise<void> {
  await database.query({
    name: 'runs/add-calls',
    text: sql('runs/add-calls'),
    values: [runId, calls, retries],
  })
}

/** Asks a run to end early. @returns false where it is over or stopping already */
export async function markStopping(
  database: Database,
  runId: string,
  as: 'failed' | 'cancelled',
  problem: string,
): Promise<boolean> {
  const { rowCount } = await database.query(sql('runs/stop'), [runId, as, problem])
  return rowCount === 1
}

/** Runs under way that are to end early. */
export async function readStoppingRuns(database: Database): Promise<string[]> {
  const { rows } = await database.query(sql('runs/read-stopping'))
  return rows.map((row) => row.run_id)
}

/** Why scopes of a run failed, the most frequent cause first. */
export interface FailureCause {
  readonly operation: Operation
  readonly httpStatus: number | null
  readonly errorStatus: string | null
  readonly errorMessage: string | null
  readonly scopes: number
  readonly organizations: number
}

export async function readFailureCauses(
  database: Database,
  runId: string,
): Promise<FailureCause[]> {
  const { rows } = await database.query(sql('runs/causes'), [runId])
  return rows.map((row) => ({
    operation: row.operation,
    httpStatus: row.http_status,
    errorStatus: row.error_status,
    errorMessage: row.error_message,
    scopes: row.scopes,
    organizations: row.organizations,
  }))
}

export interface SettledRun {
  readonly status: 'succeeded' | 'partial' | 'failed' | 'cancelled'
  readonly trigger: Trigger
  /** From its first item's claim to this moment. */
  readonly durationS: number
}

/** Settles a run once. @returns what became of it; null where it is settled already or something is pending */
export async function settle(
  database: Database,
  runId: string,
  problem: string | null,
): Promise<SettledRun | null> {
  const { rows } = await database.query(sql('runs/settle'), [runId, problem])
  const row = rows[0]
  if (row === undefined) return null
  return { status: row.status, trigger: row.trigger, durationS: row.duration_s }
}
