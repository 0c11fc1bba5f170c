import type { Client, Database } from './pool.ts'
import type { BatchScope, ScopeKind } from './scopes.ts'
import { sql } from './sql.ts'

/** A listing that lacked so many of its users that nobody was removed. */
export interface HeldListing {
  readonly scope: BatchScope
  readonly contentDigest: Buffer
  readonly usersBefore: number
  readonly missingUserIds: readonly string[]
}

/**
 * Notes a held listing.
 * @returns in how many later scheduled runs the very same answer came again
 */
export async function noteHeld(
  client: Client,
  where: { runId: string; isScheduled: boolean; batchKey: number },
  held: HeldListing,
): Promise<number> {
  const { scope } = held
  const { rows } = await client.query(sql('held/note'), [
    where.runId,
    where.isScheduled,
    where.batchKey,
    scope.kind,
    scope.key,
    scope.organizationId,
    scope.documentId,
    scope.organizationUserGroupId,
    held.contentDigest,
    held.usersBefore,
    held.missingUserIds,
  ])
  return rows[0].repeats
}

/** What a run held, and where it lies. */
export interface HeldPlace {
  readonly heldId: number
  readonly batchKey: number
}

/** What a run held and still waits, the oldest first. */
export async function readHeldPlaces(
  database: Database,
  runId: string,
  organizationId: string | null,
): Promise<HeldPlace[]> {
  const { rows } = await database.query(sql('held/of-run'), [runId, organizationId])
  return rows.map((row) => ({ heldId: row.held_id, batchKey: row.batch_key }))
}

/** A held listing that nobody else can resolve until this transaction ends. */
export interface TakenHold {
  readonly kind: HeldKind
  /** Our key of the organization, document or group. */
  readonly key: number
  readonly missingUserIds: readonly string[]
  /** PostgreSQL's clock. */
  readonly now: Date
}

/** Listings that can be held. */
export type HeldKind = 'organization' | 'document' | 'group'

/** @returns null where it is resolved already, or a later run has seen another answer since */
export async function takeHeld(
  client: Client,
  heldId: number,
  runId: string,
): Promise<TakenHold | null> {
  const { rows } = await client.query(sql('held/take'), [heldId, runId])
  const row = rows[0]
  if (row === undefined) return null
  return {
    kind: row.kind,
    key: row.scope_key,
    missingUserIds: row.missing_user_ids,
    now: row.now,
  }
}

/** Closes what is held of listings of one kind. */
export async function resolveHeld(
  client: Client,
  kind: ScopeKind,
  keys: readonly number[],
  resolution: 'accepted' | 'repeated' | 'recovered',
): Promise<void> {
  if (keys.length === 0) return
  await client.query(sql('held/resolve'), [kind, keys, resolution])
}

/** Listings that a run held and that still wait. */
export async function countHeld(database: Database, runId: string): Promise<number> {
  const { rows } = await database.query(sql('held/count-of-run'), [runId])
  return rows[0].held
}
