import type { Client } from './pool.ts'
import type { RowOf } from './statement.ts'
import * as statements from './statements/users.ts'

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

export type StoredUser = RowOf<typeof statements.read>

/** What is stored of some users of one organization, by id. */
export async function readUsers(
  client: Client,
  organizationKey: number,
  userIds: readonly string[],
): Promise<Map<string, StoredUser>> {
  if (userIds.length === 0) return new Map()
  const rows = await statements.read.all(client, { organizationKey, userIds })
  return new Map(rows.map((row) => [row.userId, row]))
}

/** @returns how many rows were inserted or updated */
export async function putUsers(
  client: Client,
  organizationKey: number,
  users: readonly UserRow[],
  at: Date,
): Promise<number> {
  if (users.length === 0) return 0
  return statements.put.run(client, {
    organizationKey,
    userIds: users.map(({ userId }) => userId),
    names: users.map(({ name }) => name),
    emails: users.map(({ email }) => email),
    rests: users.map(({ rest }) => rest),
    digests: users.map(({ digest }) => digest),
    sources: users.map(({ source }) => source),
    sourceTimes: users.map(({ sourceAt }) => sourceAt),
    listed: users.map(({ listed }) => listed),
    at,
  })
}

/** Ends the listing of users; they keep their rows. @returns how many */
export async function unlistUsers(
  client: Client,
  organizationKey: number,
  userIds: readonly string[],
  at: Date,
): Promise<number> {
  if (userIds.length === 0) return 0
  return statements.unlist.run(client, { organizationKey, userIds, at })
}
