import type { HeldKind, HeldPlace } from './held.ts'
import type { Database } from './pool.ts'
import { inCamelCase } from './run-reports.ts'
import { sql } from './sql.ts'

/** A listing that lacked so many of its users that nobody was removed, and that waits for a person. */
export interface WaitingListing {
  readonly heldId: number
  /** The run that last saw the answer. */
  readonly runId: string
  /** When the answer was first seen. */
  readonly at: Date
  readonly kind: HeldKind
  readonly organizationId: string
  readonly documentId: string | null
  readonly organizationUserGroupId: string | null
  readonly usersBefore: number
  readonly usersMissing: number
  /** At most 100 of them. */
  readonly firstMissingUserIds: readonly string[]
  /** Later scheduled runs in which the same answer came again. */
  readonly repeats: number
}

const USERS_NAMED = 100

/**
 * A page of what waits for a person, the one first held first.
 * @param page.runId what this run last saw; null for all
 * @param page.after id of the last one of the page before; null for the first page
 */
export async function pageHeld(
  database: Database,
  page: { runId: string | null; after: number | null; max: number },
): Promise<WaitingListing[]> {
  const { runId, after, max } = page
  const { rows } = await database.query(sql('held/list'), [runId, after, max, USERS_NAMED])
  return rows.map((row) => inCamelCase<WaitingListing>(row))
}

/** Where a listing lies that waits, and the run that last saw its answer; null where it does not wait. */
export async function findHeld(
  database: Database,
  heldId: number,
): Promise<(HeldPlace & { readonly runId: string }) | null> {
  const { rows } = await database.query(sql('held/place'), [heldId])
  const row = rows[0]
  if (row === undefined) return null
  return { heldId: row.held_id, batchKey: row.batch_key, runId: row.run_id }
}
