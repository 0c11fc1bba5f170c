import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'

/** Listings with members of their own; the organization's is in `users`. */
export type MemberKind = 'document' | 'group'

/** One user in one listing. */
export interface Membership {
  /** Our key of the document or group. */
  readonly key: number
  readonly userId: string
}

const TABLES: Readonly<Record<MemberKind, string>> = {
  document: 'document-users',
  group: 'user-group-members',
}

/** Everyone who is or was in some listings: by listing, by user id, true where they left. */
export async function readMembers(
  on: Database | Client,
  kind: MemberKind,
  keys: readonly number[],
): Promise<Map<number, Map<string, boolean>>> {
  const members = new Map(keys.map((key) => [key, new Map<string, boolean>()]))
  if (keys.length === 0) return members
  const { rows } = await on.query(sql(`members/read-${TABLES[kind]}`), [keys])
  for (const row of rows) members.get(row.key)?.set(row.user_id, row.removed)
  return members
}

/** Adds members, and takes back those who had left. */
export async function joinMembers(
  client: Client,
  kind: MemberKind,
  members: readonly Membership[],
  at: Date,
): Promise<void> {
  await write(client, `members/join-${TABLES[kind]}`, members, at)
}

/** Ends the stay of members whom a complete listing no longer holds. */
export async function leaveMembers(
  client: Client,
  kind: MemberKind,
  members: readonly Membership[],
  at: Date,
): Promise<void> {
  await write(client, `members/leave-${TABLES[kind]}`, members, at)
}

async function write(
  client: Client,
  statement: string,
  members: readonly Membership[],
  at: Date,
): Promise<void> {
  if (members.length === 0) return
  await client.query(sql(statement), [
    members.map(({ key }) => key),
    members.map(({ userId }) => userId),
    at,
  ])
}
