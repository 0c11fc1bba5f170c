import type { ErasePlace, PersonSearch } from './erase.ts'
import type { Client } from './pool.ts'
import { sql } from './sql.ts'

/** The key of a user. */
export interface UserKey {
  readonly organizationKey: number
  readonly userId: string
}

/** A stored user; `rest` is JSON text. */
export interface UserToErase extends UserKey {
  readonly name: string | null
  readonly email: string | null
  readonly rest: string | null
}

/** Users who are the person, or who may speak of the person. */
export async function findUsers(
  client: Client,
  { organizationKeys }: ErasePlace,
  { userId, pattern }: PersonSearch,
): Promise<UserKey[]> {
  await client.query(sql('erase/no-time-limits'))
  const values = [organizationKeys, userId, pattern]
  const { rows } = await client.query(sql('erase/find-users'), values)
  return rows.map((row) => ({ organizationKey: row.organization_key, userId: row.user_id }))
}

/** Locks users of one organization, in the order in which commits write them. */
export async function readUsers(
  client: Client,
  organizationKey: number,
  userIds: readonly string[],
): Promise<UserToErase[]> {
  const { rows } = await client.query(sql('erase/read-users'), [organizationKey, userIds])
  return rows.map((row) => ({
    organizationKey,
    userId: row.user_id,
    name: row.name,
    email: row.email,
    rest: row.rest,
  }))
}

/** Makes room for a pseudonym; until the end of the transaction nobody else adds users to the organization. */
export async function mergeUsers(
  client: Client,
  { organizationKey, userId }: UserKey,
  pseudonym: string,
): Promise<void> {
  await client.query(sql('erase/take-users-turn'), [organizationKey])
  await client.query(sql('erase/merge-users'), [organizationKey, userId, pseudonym])
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
