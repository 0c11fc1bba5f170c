import type { Operation } from '../errors.ts'
import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'

export type ScopeKind = 'organization' | 'group' | 'document' | 'annotation'

/** A scope of a batch, with the ids to ask by and what is known of its last stored answer. */
export interface BatchScope {
  readonly kind: ScopeKind
  /** Our key of the organization, group, document or annotation. */
  readonly key: number
  /** Its place in the batch. */
  readonly scopeNo: number
  readonly organizationKey: number
  readonly organizationId: string
  readonly documentId: string | null
  readonly annotationId: string | null
  readonly organizationUserGroupId: string | null
  readonly bodyDigest: Buffer | null
  readonly contentDigest: Buffer | null
  /** Live records stored under it. */
  readonly recordCount: number
  /** False where nothing was ever stored under it. */
  readonly hasRows: boolean
  /** True where its time of check is not its batch's. */
  readonly hasOwnCheck: boolean
}

/** Ends of the names of statements that there is one of for each kind. */
export const TABLES: Readonly<Record<ScopeKind, string>> = {
  organization: 'organizations',
  group: 'user-groups',
  document: 'documents',
  annotation: 'annotations',
}

/** The active scopes of a batch, in their order. */
export async function readScopes(
  on: Database | Client,
  batchKey: number,
  operation: Operation,
): Promise<BatchScope[]> {
  const name = `scopes/${operation}-of-batch`
  const { rows } = await on.query({ name, text: sql(name), values: [batchKey] })
  return rows.map((row) => ({
    kind: row.kind,
    key: row.key,
    scopeNo: row.scope_no,
    organizationKey: row.organization_key,
    organizationId: row.organization_id,
    documentId: row.document_id,
    annotationId: row.annotation_id,
    organizationUserGroupId: row.organization_user_group_id,
    bodyDigest: row.body_digest,
    contentDigest: row.content_digest,
    recordCount: row.record_count,
    hasRows: row.has_rows,
    hasOwnCheck: row.has_own_check,
  }))
}

/** Takes the batch for this transaction; the highest claim number that wrote to it. */
export async function lockBatch(client: Client, batchKey: number): Promise<number> {
  const { rows } = await client.query({
    name: 'scopes/lock-batch',
    text: sql('scopes/lock-batch'),
    values: [batchKey],
  })
  return rows[0].version
}

/** A claim on a batch that is written to without asking. */
export interface BatchClaim {
  readonly claimNo: number
  /** PostgreSQL's clock. */
  readonly claimedAt: Date
}

/** Draws a claim for a locked batch: whoever asked for its scopes before now has to ask again. */
export async function claimBatch(client: Client, batchKey: number): Promise<BatchClaim> {
  const { rows } = await client.query(sql('scopes/claim-batch'), [batchKey])
  return { claimNo: rows[0].claim_no, claimedAt: rows[0].claimed_at }
}

/** The ids that a scope is asked for by. */
export type ScopeIds = Pick<
  BatchScope,
  'organizationId' | 'documentId' | 'annotationId' | 'organizationUserGroupId'
>

/** Where a scope lies; null where the catalog lacks it. */
export async function findScope(
  on: Database | Client,
  operation: Operation,
  ids: ScopeIds,
): Promise<{ batchKey: number; kind: ScopeKind; key: number } | null> {
  const { rows } = await on.query(sql('scopes/find'), [
    operation,
    ids.organizationId,
    ids.documentId,
    ids.annotationId,
    ids.organizationUserGroupId,
  ])
  const row = rows[0]
  return row === undefined ? null : { batchKey: row.batch_key, kind: row.kind, key: row.key }
}

/** When the last good check of a scope began; null where there was none. */
export async function readCheck(
  on: Database | Client,
  batchKey: number,
  { kind, key }: Pick<BatchScope, 'kind' | 'key'>,
): Promise<Date | null> {
  const { rows } = await on.query(sql('scopes/read-check'), [batchKey, kind, key])
  return rows[0]?.checked_at ?? null
}

/** Lets scopes keep the time of their last good check, before their batch's time moves on. */
export async function keepCheck(client: Client, scopes: readonly BatchScope[]): Promise<void> {
  for (const [kind, keys] of keysByKind(scopes)) {
    await client.query(sql(`scopes/keep-check-${TABLES[kind]}`), [keys])
  }
}

/** Sets scopes' own time of check; null gives them back to their batch. */
export async function setCheck(
  client: Client,
  scopes: readonly BatchScope[],
  at: Date | null,
): Promise<void> {
  for (const [kind, keys] of keysByKind(scopes)) {
    await client.query(sql(`scopes/set-check-${TABLES[kind]}`), [keys, at])
  }
}

/**
 * Users of an organization were written from a scope outside its first users batch: its own listing must be looked at
 * again even if it is the one stored last, and an older answer to it must not overwrite them.
 * @returns false where a newer claim has written to that batch
 */
export async function touchHeadBatch(
  client: Client,
  organizationKey: number,
  claimNo: number,
): Promise<boolean> {
  const { rowCount } = await client.query(sql('scopes/touch-head-batch'), [
    organizationKey,
    claimNo,
  ])
  await client.query(sql('scopes/forget-answer-organizations'), [organizationKey])
  return rowCount === 1
}

function keysByKind(scopes: readonly BatchScope[]): Map<ScopeKind, number[]> {
  const keys = new Map<ScopeKind, number[]>()
  for (const { kind, key } of scopes) keys.set(kind, [...(keys.get(kind) ?? []), key])
  return keys
}
