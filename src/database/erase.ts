import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'

/** Where a person is erased. */
export interface ErasePlace {
  /** Null for all organizations. */
  readonly organizationId: string | null
  readonly organizationKeys: readonly number[]
}

/** What an erasure emptied or replaced, in the columns of `sync.erasures`. */
export interface ErasedCounts {
  readonly users: number
  readonly comments: number
  readonly commentVersions: number
  readonly memberships: number
  readonly mentionsInRecords: number
  readonly rejectedRecords: number
  readonly messages: number
  readonly held: number
  readonly scopes: number
}

/** The proof of an erasure. */
export interface ErasureProof extends ErasedCounts {
  readonly erasedAt: Date
  readonly finishedAt: Date
  readonly mentionsLeft: number
}

/** What tells a person. */
export interface Identity {
  /** Null for a person without one. */
  readonly userId: string | null
  readonly names: readonly string[]
  readonly emails: readonly string[]
}

/** What rows are found by that may speak of a person; src/erase/pattern.ts makes the patterns. */
export interface PersonSearch {
  readonly userId: string | null
  readonly pseudonym: string
  /** Of the id and the addresses, as a regular expression. */
  readonly pattern: string
  /** In lower case. */
  readonly emails: readonly string[]
  /** Names, as patterns of `like`, and all of them as a regular expression; null where there is none. */
  readonly names: readonly string[]
  readonly namesPattern: string | null
}

/** An erasure under way. */
export interface Erasing {
  readonly erasureId: number
  readonly registeredAt: Date
}

export async function readPlace(
  database: Database,
  organizationId: string | null,
): Promise<ErasePlace> {
  const { rows } = await database.query(sql('erase/organizations'), [organizationId])
  return { organizationId, organizationKeys: rows.map((row) => row.organization_key) }
}

/** @returns when the person was last erased there; null where that never was */
export async function findErasure(
  database: Database,
  pseudonym: string,
  organizationId: string | null,
): Promise<Date | null> {
  const { rows } = await database.query(sql('erase/previous'), [pseudonym, organizationId])
  return rows[0].erased_at
}

/** The names and e-mail addresses that are stored of a person. */
export async function readIdentity(
  client: Client,
  { organizationKeys }: ErasePlace,
  { userId, emails }: Identity,
): Promise<Identity> {
  await client.query(sql('erase/no-time-limits'))
  const values = [organizationKeys, userId, emails.map((email) => email.toLowerCase())]
  const { rows } = await client.query(sql('erase/identity'), values)
  return { userId, names: rows[0].names, emails: [...emails, ...rows[0].emails] }
}

/** The erasure of the person that did not end; null where there is none. */
export async function findUnfinished(
  database: Database,
  pseudonym: string,
  organizationId: string | null,
): Promise<(Erasing & { identity: Identity }) | null> {
  const { rows } = await database.query(sql('erase/unfinished'), [pseudonym, organizationId])
  const [row] = rows
  if (row === undefined) return null
  return { erasureId: row.erasure_id, registeredAt: row.erased_at, identity: row.identity }
}

/** Registers an erasure: whatever is claimed once this is committed is redacted. */
export async function registerErasure(
  client: Client,
  erasure: {
    organizationId: string | null
    pseudonym: string
    emailHashes: readonly string[]
    nameHashes: readonly string[]
    reason: string
    identity: Identity
  },
): Promise<Erasing> {
  // Their numbers are in the order of their commits: workers notice a new one by it.
  await client.query(sql('erase/lock'))
  const { rows } = await client.query(sql('erase/register'), [
    erasure.organizationId,
    erasure.pseudonym,
    erasure.emailHashes,
    erasure.nameHashes,
    erasure.reason,
    JSON.stringify(erasure.identity),
  ])
  return { erasureId: rows[0].erasure_id, registeredAt: rows[0].erased_at }
}

/** Has every answer thrown away that was asked for before this is called; waits for commits under way. */
export async function supersedeAnswers(
  database: Database,
  organizationId: string | null,
): Promise<void> {
  const claimNo = (await database.query(sql('erase/claim-number'))).rows[0].claim_no
  for (const waits of [false, true]) {
    let taken: number
    do {
      const values = [organizationId, claimNo, waits]
      taken = (await database.query(sql('erase/claim-batches'), values)).rowCount ?? 0
    } while (taken > 0)
  }
}

/** Batches in whose listings the person is. */
export async function batchesOfMember(
  database: Database,
  { organizationKeys }: ErasePlace,
  userId: string,
): Promise<number[]> {
  const { rows } = await database.query(sql('erase/batches-of-member'), [organizationKeys, userId])
  return rows.map((row) => row.batch_key)
}

/** Puts the pseudonym in the place of the id in the listings of one batch. @returns how many rows changed */
export async function renameMember(
  client: Client,
  batchKey: number,
  userId: string,
  pseudonym: string,
): Promise<number> {
  let renamed = 0
  for (const table of ['document-users', 'user-group-members']) {
    const values = [batchKey, userId, pseudonym]
    renamed += (await client.query(sql(`erase/rename-${table}`), values)).rowCount ?? 0
  }
  await client.query(sql('erase/forget-listings'), [batchKey, pseudonym])
  return renamed
}

/** As renameMember, of those who left, in all organizations of the place. */
export async function renamePastMember(
  client: Client,
  { organizationKeys }: ErasePlace,
  userId: string,
  pseudonym: string,
): Promise<number> {
  const values = [organizationKeys, userId, pseudonym]
  return (await client.query(sql('erase/rename-past-memberships'), values)).rowCount ?? 0
}

/** Adds to the counts of an erasure, in the transaction that did it. */
export async function countErased(
  client: Client,
  erasureId: number,
  counts: Partial<ErasedCounts>,
): Promise<void> {
  const { users, comments, commentVersions, memberships, mentionsInRecords } = counts
  const { rejectedRecords, messages, held, scopes } = counts
  const records = [users, comments, commentVersions, memberships, mentionsInRecords]
  const all = [...records, rejectedRecords, messages, held, scopes].map((count) => count ?? 0)
  if (all.every((count) => count === 0)) return
  await client.query(sql('erase/count'), [erasureId, ...all])
}

/** Ends an erasure. */
export async function finishErasure(
  database: Database,
  erasureId: number,
  mentionsLeft: number,
): Promise<ErasureProof> {
  const { rows } = await database.query(sql('erase/finish'), [erasureId, mentionsLeft])
  const [row] = rows
  return {
    erasedAt: row.erased_at,
    finishedAt: row.finished_at,
    users: row.users,
    comments: row.comments,
    commentVersions: row.comment_versions,
    memberships: row.memberships,
    mentionsInRecords: row.mentions_in_records,
    rejectedRecords: row.rejected_records,
    messages: row.messages,
    held: row.held,
    scopes: row.scopes,
    mentionsLeft: row.mentions_left,
  }
}

/** Takes an erasure back that found nothing. @returns false where it found something, and stays */
export async function withdrawErasure(database: Database, erasureId: number): Promise<boolean> {
  return (await database.query(sql('erase/withdraw'), [erasureId])).rowCount === 1
}
