import { arraysOf, textsOf, USER_COLUMN_LIST } from '../../base/columns.ts'
import type { UserColumns } from '../../base/columns.ts'
import type { Client } from './pool.ts'
import type { Operation, ScopeKind } from '../../base/operations.ts'
import type { On, RowOf } from './statement.ts'
import * as held from './statements/held.ts'
import * as members from './statements/members.ts'
import * as statements from './statements/users.ts'

/** Where a name and e-mail come from; a lower one never overwrites a higher. */
export const USER_SOURCES = { comment: 1, member: 2, listing: 3 } as const

export type UserSource = (typeof USER_SOURCES)[keyof typeof USER_SOURCES]

/** A user to add or change. */
export interface UserRow extends UserColumns {
  readonly digest: Buffer
  readonly source: UserSource
  /** For people of comments: lastUpdated of the comment, so that the newest one's name wins. */
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

/** All content of a stored user; `rest` is PostgreSQL's text of it. */
export type UserContent = UserColumns & RowOf<typeof statements.readContent>

/** Users of one organization by id: those named, and with `isListedToo` those of its own listing. */
export async function readUserContents(
  on: On,
  organizationKey: number,
  userIds: readonly string[],
  isListedToo: boolean,
): Promise<Map<string, UserContent>> {
  const rows = await statements.readContent.all(on, { organizationKey, userIds, isListedToo })
  return new Map(rows.map((row) => [row.userId, { ...row, texts: textsOf(USER_COLUMN_LIST, row) }]))
}

/** How e-mail addresses are stored: `PRIVACY_EMAIL`. */
export type StoredEmails = 'keep' | 'hash' | 'drop'

/**
 * Adds or changes users, and keeps earlier versions of those who changed. A user whom another transaction
 * added meanwhile is changed by the second statement, which sees that row.
 * @param by.emails earlier versions keep no more of addresses than this
 * @param by.runId what one run finds out is one version
 * @returns how many rows of users were inserted or updated
 */
export async function putUsers(
  client: Client,
  organizationKey: number,
  users: readonly UserRow[],
  at: Date,
  by: { readonly emails: StoredEmails; readonly runId: string },
): Promise<number> {
  if (users.length === 0) return 0
  const rows = {
    organizationKey,
    userIds: users.map(({ userId }) => userId),
    digests: users.map(({ digest }) => digest),
    sources: users.map(({ source }) => source),
    sourceTimes: users.map(({ sourceAt }) => sourceAt),
    listed: users.map(({ listed }) => listed),
    at,
    ...arraysOf(USER_COLUMN_LIST, users),
  }
  const added = await statements.add.run(client, rows)
  if (added === users.length) return added
  return added + (await statements.change.run(client, { ...rows, ...by }))
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

/** Listings with members of their own; the organization's is in `users`. */
export type MemberKind = 'document' | 'group'

/** One user in one listing. */
export interface Membership {
  /** Our key of the document or group. */
  readonly key: number
  readonly userId: string
}

const JOIN = { document: members.joinDocumentUsers, group: members.joinUserGroupMembers }
const LEAVE = { document: members.leaveDocumentUsers, group: members.leaveUserGroupMembers }

/**
 * Records whose removal from a listing waits for a decision (`held`), or was refused while the response stays the same.
 * @returns by the id of the record
 */
export async function readRemovals(
  on: On,
  listing: { readonly operation: Operation; readonly kind: ScopeKind; readonly scopeKey: number },
): Promise<Map<string, 'held' | 'refused'>> {
  const rows = await held.removals.all(on, listing)
  return new Map(rows.map(({ userId, isRefused }) => [userId, isRefused ? 'refused' : 'held']))
}

/** Adds members, and restores those who had left. */
export async function joinMembers(
  client: Client,
  kind: MemberKind,
  joining: readonly Membership[],
  at: Date,
): Promise<void> {
  if (joining.length > 0) await JOIN[kind].run(client, { ...columnsOf(joining), at })
}

/** Removes members that a complete listing no longer contains. @returns how many */
export async function leaveMembers(
  client: Client,
  kind: MemberKind,
  leaving: readonly Membership[],
  at: Date,
): Promise<number> {
  if (leaving.length === 0) return 0
  return LEAVE[kind].run(client, { ...columnsOf(leaving), at })
}

function columnsOf(memberships: readonly Membership[]) {
  return {
    keys: memberships.map(({ key }) => key),
    userIds: memberships.map(({ userId }) => userId),
  }
}
