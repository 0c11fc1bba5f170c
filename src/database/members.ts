import type { Client } from './pool.ts'
import type { On } from './statement.ts'
import * as members from './statements/members.ts'

/** Listings with members of their own; the organization's is in `users`. */
export type MemberKind = 'document' | 'group'

/** One user in one listing. */
export interface Membership {
  /** Our key of the document or group. */
  readonly key: number
  readonly userId: string
}

const READ = { document: members.readDocumentUsers, group: members.readUserGroupMembers }
const JOIN = { document: members.joinDocumentUsers, group: members.joinUserGroupMembers }
const LEAVE = { document: members.leaveDocumentUsers, group: members.leaveUserGroupMembers }

/** Everyone who is or was in some listings: by listing, by user id, true where they left. */
export async function readMembers(
  on: On,
  kind: MemberKind,
  keys: readonly number[],
): Promise<Map<number, Map<string, boolean>>> {
  const found = new Map(keys.map((key) => [key, new Map<string, boolean>()]))
  if (keys.length === 0) return found
  for (const { key, userId, removed } of await READ[kind].all(on, { keys }))
    found.get(key)?.set(userId, removed)
  return found
}

/** Adds members, and takes back those who had left. */
export async function joinMembers(
  client: Client,
  kind: MemberKind,
  joining: readonly Membership[],
  at: Date,
): Promise<void> {
  if (joining.length > 0) await JOIN[kind].run(client, { ...columnsOf(joining), at })
}

/** Ends the stay of members whom a complete listing no longer holds. */
export async function leaveMembers(
  client: Client,
  kind: MemberKind,
  leaving: readonly Membership[],
  at: Date,
): Promise<void> {
  if (leaving.length > 0) await LEAVE[kind].run(client, { ...columnsOf(leaving), at })
}

function columnsOf(memberships: readonly Membership[]) {
  return {
    keys: memberships.map(({ key }) => key),
    userIds: memberships.map(({ userId }) => userId),
  }
}
