import type { Operation } from '../errors.ts'
import { UsageError } from '../errors.ts'
import { transaction } from './pool.ts'
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
  /** True where nothing of it is stored. */
  readonly isWhole: boolean
}

/** Whole records that a run rejected and nobody has set aside. */
export interface LostRecords {
  readonly records: number
  readonly scopes: number
  /** The commonest one; null where there is no such record. */
  readonly reason: string | null
}

/** Rejected records, by their ids or all of a run. */
export type RejectedChoice = { readonly ids: readonly number[] } | { readonly runId: string }

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
    isWhole: row.is_whole,
  }))
}

/** Notes that rejected records are stored after all. */
export async function markReplayed(
  client: Client,
  rejectedRecordIds: readonly number[],
): Promise<void> {
  await client.query(sql('rejected/mark-replayed'), [rejectedRecordIds])
}

export async function readLostRecords(on: Database | Client, runId: string): Promise<LostRecords> {
  const { rows } = await on.query<LostRecords>(sql('rejected/whole-of-run'), [runId])
  return rows[0] as LostRecords
}

/** Of some contents, by their digests, those that are set aside; in hex. */
export async function readSetAside(
  on: Database | Client,
  digests: readonly (Buffer | null)[],
): Promise<Set<string>> {
  if (digests.length === 0) return new Set()
  const { rows } = await on.query(sql('rejected/read-set-aside'), [digests])
  return new Set(rows.map(({ digest }) => digest.toString('hex')))
}

/**
 * Sets rejected records aside for good: the same content in the same scope makes no later run partial. Or takes that back.
 * @param as who does it and why; null to take it back
 * @returns how many contents that changed
 * @throws UsageError where a record is not there, or was rejected by a version that made no digests
 */
export async function settleRejected(
  database: Database,
  choice: RejectedChoice,
  as: { by: string; reason: string } | null,
): Promise<number> {
  const ids = 'ids' in choice ? [...new Set(choice.ids)] : null
  const meant = [ids, 'runId' in choice ? choice.runId : null]
  return transaction(database, async (client) => {
    const { rows } = await (as === null
      ? client.query(sql('rejected/restore'), meant)
      : client.query(sql('rejected/set-aside'), [...meant, as.by, as.reason]))
    const { found, changed } = rows[0]
    if (found > 0 && found >= (ids ?? []).length) return changed
    throw new UsageError(
      ids === null
        ? 'That run rejected nothing that is open or set aside.'
        : `Of ${ids.length} ids ${found} are of rejected records that are open or set aside: nothing was done. See: collab-sync rejected.`,
    )
  })
}
