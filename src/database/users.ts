import type { Client } from './pool.ts'
import { sql } from './sql.ts'

/** Where a name and e-mail come from; a lower one never overwrites a higher. */
export const USER_SOURCES = { author: 1, member: 2, listing: 3 } as const

export type UserSource = (typeof USER_SOURCES)[keyof typeof USER_SOURCES]

/** A user to add or change. */
export interface UserRow {
  readonly userId: string
  readonly name: string | null
  readonly email: string | null
  readonly rest: string | null
  readonly digest: Buffer
  readonly source: UserSource
  /** For authors: lastUpdated of their comment, so that the newest one's name wins. */
  readonly sourceAt: string | null
  /** True where the organization's own listing said so. */
  readonly listed: boolean
}

export interface StoredUser {
  readonly source: UserSource
  readonly listed: boolean
  readonly digest: Buffer
  readonly sourceAt: Date | null
}

/** What is stored of some users of one organization, by id. */
export async function readUsers(
  client: Client,
  organizationKey: number,
  userIds: readonly string[],
): Promise<Map<string, StoredUser>> {
  if (userIds.length === 0) return new Map()
  const { rows } = await client.query(sql('users/read'), [organizationKey, userIds])
  return new Map(
    rows.map((row) => [
      row.user_id,
      { source: row.source, listed: row.listed, digest: row.digest, sourceAt: row.source_at },
    ]),
  )
}

/** Ids of the users that the organization's own listing held when it was last stored. */
export async function readListedUserIds(
  client: Client,
  organizationKey: number,
): Promise<string[]> {
  const { rows } = await client.query(sql('users/read-listed'), [organizationKey])
  return rows.map((row) => row.user_id)
}

/**
 * Takes the turn to write users of an organization, until the end of the transaction; nothing depends on it but that
 * nobody waits for a row.
 * @returns false where another transaction has it
 */
export async function takeUsersTurn(client: Client, organizationKey: number): Promise<boolean> {
  const { rows } = await client.query(sql('users/take-turn'), [organizationKey])
  return rows[0].taken
}

/** @returns how many rows were inserted or updated */
export async function putUsers(
  client: Client,
  organizationKey: number,
  users: readonly UserRow[],
  at: Date,
): Promise<number> {
  if (users.length === 0) return 0
  const { rowCount } = await client.query(sql('users/put'), [
    organizationKey,
    users.map(({ userId }) => userId),
    users.map(({ name }) => name),
    users.map(({ email }) => email),
    users.map(({ rest }) => rest),
    users.map(({ digest }) => digest),
    users.map(({ source }) => source),
    users.map(({ sourceAt }) => sourceAt),
    users.map(({ listed }) => listed),
    at,
  ])
  return rowCount ?? 0
}

/** Ends the listing of users; they keep their rows. @returns how many */
export async function unlistUsers(
  client: Client,
  organizationKey: number,
  userIds: readonly string[],
  at: Date,
): Promise<number> {
  if (userIds.length === 0) return 0
  const { rowCount } = await client.query(sql('users/unlist'), [organizationKey, userIds, at])
  return rowCount ?? 0
}
