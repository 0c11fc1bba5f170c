import type { Database } from '../../src/core/database/pool.ts'

/** Rows that a test of one statement begins with; counts and times as the statement would find them. */

/** An organization with one batch. @returns the batch's key */
export async function addBatch(database: Database, operation = 'users'): Promise<number> {
  const { rows } = await database.query<{ batch_key: number }>(
    `with o as (
       insert into collab_store.organizations (organization_id) values (gen_random_uuid()::text)
       returning organization_key
     )
     insert into collab_store.batches (organization_key, batch_no, operation, scopes)
     select organization_key, 0, $1, 4 from o returning batch_key`,
    [operation],
  )
  return rows[0]?.batch_key as number
}

/** A run of a person, with members of its row. @returns its id */
export async function addRun(
  database: Database,
  columns: Record<string, unknown> = {},
): Promise<string> {
  const all: Record<string, unknown> = { trigger: 'cli', status: 'running', ...columns }
  return (await insert(database, 'sync.runs', all, 'run_id')) as string
}

/** An item of a run. @returns its id */
export async function addItem(
  database: Database,
  runId: string,
  columns: Record<string, unknown> = {},
): Promise<number> {
  const all = { run_id: runId, kind: 'sync-batch', ...columns }
  return Number(await insert(database, 'sync.run_items', all, 'item_id'))
}

/** A worker whose last heartbeat is so many seconds old. */
export async function addWorker(
  database: Database,
  workerId: string,
  heartbeatAgeS: number,
): Promise<void> {
  await database.query(
    `insert into sync.workers (worker_id, started_at, heartbeat_at, calls_in_flight, calls_limit)
     values ($1, now() - interval '2 days', now() - make_interval(secs => $2), 0, 1)`,
    [workerId, heartbeatAgeS],
  )
}

/** Some columns of the rows of a table. */
export async function rowsOf(
  database: Database,
  table: string,
  columns: string,
  order = '1',
): Promise<Record<string, unknown>[]> {
  const { rows } = await database.query<Record<string, unknown>>(
    `select ${columns} from ${table} order by ${order}`,
  )
  return rows
}

async function insert(
  database: Database,
  table: string,
  columns: Record<string, unknown>,
  returned: string,
): Promise<unknown> {
  const names = Object.keys(columns)
  const { rows } = await database.query<Record<string, unknown>>(
    `insert into ${table} (${names.join(', ')}) values (${names.map((_, n) => `$${n + 1}`).join(', ')})
     returning ${returned}`,
    Object.values(columns),
  )
  return rows[0]?.[returned]
}
