import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'

/** Where a person is erased. */
export interface ErasePlace {
  /** Null for all organizations. */
  readonly organizationId: string | null
  readonly organizationKeys: readonly number[]
}

/** What an erasure emptied, in the columns of `sync.erasures`. */
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
  readonly mentionsLeft: number
}

/** Begins an erasure: no other one runs beside it, and answers in hand are asked for again once it is over. */
export async function beginErasure(
  client: Client,
  organizationId: string | null,
): Promise<ErasePlace> {
  await client.query(sql('erase/no-time-limits'))
  await client.query(sql('erase/lock'))
  await client.query(sql('erase/claim-batches'), [organizationId])
  const { rows } = await client.query(sql('erase/organizations'), [organizationId])
  return { organizationId, organizationKeys: rows.map((row) => row.organization_key) }
}

/** @returns when the person was last erased there; null where that never was */
export async function findErasure(
  client: Client,
  pseudonym: string,
  organizationId: string | null,
): Promise<Date | null> {
  const { rows } = await client.query(sql('erase/previous'), [pseudonym, organizationId])
  return rows[0].erased_at
}

/** The names and e-mail addresses that are stored of a person. */
export async function readIdentity(
  client: Client,
  { organizationKeys }: ErasePlace,
  userId: string,
): Promise<{ names: string[]; emails: string[] }> {
  const { rows } = await client.query(sql('erase/identity'), [organizationKeys, userId])
  return { names: rows[0].names, emails: rows[0].emails }
}

/** A stored user; `rest` is JSON text. */
export interface UserToErase {
  readonly organizationKey: number
  readonly userId: string
  readonly name: string | null
  readonly email: string | null
  readonly rest: string | null
}

/** Users who are the person, or whose further members name them. */
export async function findUsers(
  client: Client,
  { organizationKeys }: ErasePlace,
  person: { userId: string; pseudonym: string; idInJson: readonly string[] },
): Promise<UserToErase[]> {
  const { userId, pseudonym, idInJson } = person
  await client.query(sql('erase/merge-users'), [organizationKeys, userId, pseudonym])
  const { rows } = await client.query(sql('erase/find-users'), [organizationKeys, userId, idInJson])
  return rows.map((row) => ({
    organizationKey: row.organization_key,
    userId: row.user_id,
    name: row.name,
    email: row.email,
    rest: row.rest,
  }))
}

/** A user as it is to be stored in the place of another one. */
export interface UserErased extends UserToErase {
  readonly newUserId: string
  readonly digest: Buffer
}

export async function updateUsers(client: Client, users: readonly UserErased[]): Promise<void> {
  if (users.length === 0) return
  await client.query(sql('erase/update-users'), [
    users.map(({ organizationKey }) => organizationKey),
    users.map(({ userId }) => userId),
    users.map(({ newUserId }) => newUserId),
    users.map(({ name }) => name),
    users.map(({ email }) => email),
    users.map(({ rest }) => rest),
    users.map(({ digest }) => digest),
  ])
}

/** Puts the pseudonym in the place of the id in every listing. @returns how many rows changed */
export async function renameMember(
  client: Client,
  { organizationKeys }: ErasePlace,
  userId: string,
  pseudonym: string,
): Promise<number> {
  let renamed = 0
  for (const table of ['document-users', 'user-group-members', 'past-memberships']) {
    const values = [organizationKeys, userId, pseudonym]
    renamed += (await client.query(sql(`erase/rename-${table}`), values)).rowCount ?? 0
  }
  return renamed
}

/** The next run looks at the answers again that spoke of the person. */
export async function forgetAnswers(
  client: Client,
  { organizationKeys }: ErasePlace,
  annotationKeys: readonly number[],
  { userId, pseudonym }: { userId: string; pseudonym: string },
): Promise<void> {
  const values = [organizationKeys, annotationKeys, pseudonym, userId]
  await client.query(sql('erase/forget-answers'), values)
}

/** Empties what the worker noted of a person. @param needles texts that tell the person, plain and inside of JSON */
export async function emptyNotes(
  client: Client,
  { organizationId }: ErasePlace,
  person: { userId: string; pseudonym: string },
  needles: { plain: readonly string[]; json: readonly string[] },
): Promise<Pick<ErasedCounts, 'rejectedRecords' | 'messages' | 'held' | 'scopes'>> {
  const { userId, pseudonym } = person
  const count = async (statement: string, values: unknown[]) =>
    (await client.query(sql(statement), values)).rowCount ?? 0
  const renaming = [organizationId, userId, pseudonym]
  const rejectedRecords = await count('erase/empty-rejected', [organizationId, needles.json])
  const held = await count('erase/rename-held', renaming)
  const scopes = await count('erase/rename-scopes', renaming)
  const { rows } = await client.query(sql('erase/empty-messages'), [organizationId, needles.plain])
  return { rejectedRecords, messages: rows[0].messages, held, scopes }
}

/** Comments of others whose words name the person. */
export async function countMentions(
  client: Client,
  { organizationKeys }: ErasePlace,
  needles: readonly string[],
): Promise<number> {
  const { rows } = await client.query(sql('erase/count-mentions'), [organizationKeys, needles])
  return rows[0].comments
}

/** Keeps the proof. @returns its number and time */
export async function insertErasure(
  client: Client,
  erasure: {
    organizationId: string | null
    pseudonym: string
    emailHashes: readonly string[]
    reason: string
    counts: ErasedCounts
  },
): Promise<{ erasureId: number; erasedAt: Date }> {
  const { organizationId, pseudonym, emailHashes, reason, counts } = erasure
  const { rows } = await client.query(sql('erase/insert'), [
    organizationId,
    pseudonym,
    emailHashes,
    reason,
    counts.users,
    counts.comments,
    counts.commentVersions,
    counts.memberships,
    counts.mentionsInRecords,
    counts.rejectedRecords,
    counts.messages,
    counts.held,
    counts.scopes,
    counts.mentionsLeft,
  ])
  return { erasureId: rows[0].erasure_id, erasedAt: rows[0].erased_at }
}

/** Takes the planner's samples of values anew, so that none of the person is left in them. */
export async function refreshStatistics(database: Database): Promise<void> {
  await database.query(sql('erase/analyze'))
}
