import type { Pool, QueryResultRow } from 'pg'
import type { Reject } from './received-model.ts'
import { keyOf } from '../worlds/log.ts'

/** What a run stored about a scope. */
export interface ScopeRow {
  readonly failures: { readonly httpStatus: number | null; readonly errorStatus: string | null }[]
  readonly rejects: Reject[]
}

/** What a run stored about itself, and about its scopes by key. */
export interface RunRows {
  readonly run: Readonly<Record<string, unknown>>
  readonly scopes: ReadonlyMap<string, ScopeRow>
}

const RUN_COUNTS = [
  'calls',
  'scopes_planned',
  'scopes_failed',
  'scopes_held',
  'scopes_succeeded',
  'rejected',
  'records_rejected',
  'comments_written',
  'comments_deleted',
  'users_removed',
  'members_removed',
]

/** Reads what a run stored about itself. */
export async function readRun(pool: Pool, runId: string): Promise<RunRows> {
  const rows = async (text: string, values: unknown[] = []) =>
    (await pool.query(text, values)).rows as QueryResultRow[]
  const counts = RUN_COUNTS.map((name) => `${name}::float8 as ${name}`).join(', ')
  const [run] = await rows(`select status, ${counts} from sync.runs where run_id = $1`, [runId])
  return { run: run ?? {}, scopes: await readScopes(rows, runId) }
}

async function readScopes(
  rows: (text: string, values: unknown[]) => Promise<QueryResultRow[]>,
  runId: string,
): Promise<Map<string, ScopeRow>> {
  const scopes = new Map<string, ScopeRow>()
  const of = (row: QueryResultRow) => {
    const key = keyOf({
      organizationId: row['organization_id'],
      documentId: row['document_id'],
      annotationId: row['annotation_id'],
      groupId: row['organization_user_group_id'],
    })
    const scope = scopes.get(key) ?? { failures: [], rejects: [] }
    scopes.set(key, scope)
    return scope
  }
  for (const row of await rows('select * from sync.failures where run_id = $1', [runId]))
    of(row).failures.push({ httpStatus: row['http_status'], errorStatus: row['error_status'] })
  for (const row of await rows('select * from sync.rejected_records where run_id = $1', [runId]))
    of(row).rejects.push({ reason: row['reason'], record: row['record'] })
  return scopes
}
