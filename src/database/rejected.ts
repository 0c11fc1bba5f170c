import type { Operation } from '../errors.ts'
import type { Client, Database } from './pool.ts'
import type { ScopeIds } from './scopes.ts'
import { sql } from './sql.ts'

/** A rejected record, or a record of which a member was rejected, as it was received. */
export interface RejectedRow extends ScopeIds {
  readonly rejectedRecordId: number
  readonly runId: string
  /** When its answer was committed; PostgreSQL's clock. */
  readonly at: Date
  readonly operation: Operation
  /** JSON text as received. */
  readonly record: string
  /** True where its run asked for some users only, which says nothing of membership. */
  readonly isNarrowed: boolean
}

/**
 * A page of rejected records that were not stored after all, the newest first.
 * @param page.runId null for all runs
 * @param page.beforeId lowest id of the page before; null for the first page
 */
export async function pageRejected(
  database: Database,
  page: { runId: string | null; beforeId: number | null; records: number; characters: number },
): Promise<RejectedRow[]> {
  const { rows } = await database.query(sql('rejected/page'), [
    page.runId,
    page.beforeId,
    page.records,
    page.characters,
  ])
  return rows.map((row) => ({
    rejectedRecordId: row.rejected_record_id,
    runId: row.run_id,
    at: row.at,
    operation: row.operation,
    organizationId: row.organization_id,
    documentId: row.document_id,
    annotationId: row.annotation_id,
    organizationUserGroupId: row.organization_user_group_id,
    record: row.record,
    isNarrowed: row.is_narrowed,
  }))
}

/** Notes that rejected records are stored after all. */
export async function markReplayed(
  client: Client,
  rejectedRecordIds: readonly number[],
): Promise<void> {
  await client.query(sql('rejected/mark-replayed'), [rejectedRecordIds])
}
