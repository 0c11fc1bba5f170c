import type { UserColumns } from '../../../base/columns.ts'
import { USER_SOURCES } from '../../database/users.ts'
import type { StoredUser, UserRow } from '../../database/users.ts'
import type { RecordsResult } from '../fetch/result.ts'
import type { CommentRecord } from '../record/comment.ts'
import { digestOfUser } from '../record/digest.ts'

/** Users of one organization as several responses show them, the best source of each. */
export type UserCandidates = Map<string, UserRow>

/** Adds the users of a response to the candidates. */
export function addListingUsers(candidates: UserCandidates, result: RecordsResult<'users'>): void {
  const isOwnListing = result.scope.kind === 'organization' && result.isListing
  // A response about some users is as good as the organization's listing, but does not say who is listed.
  const source = isOwnListing || !result.isListing ? USER_SOURCES.listing : USER_SOURCES.member
  for (const record of result.records) {
    const other = candidates.get(record.userId)
    const isBetter = other === undefined || source > other.source || (isOwnListing && !other.listed)
    if (isBetter)
      candidates.set(record.userId, { ...record, source, sourceAt: null, listed: isOwnListing })
  }
}

/** The people of comments, each as their newest comment shows them. Those who are in no listing get a row too. */
export function peopleOf(
  comments: Iterable<Pick<CommentRecord, 'people' | 'lastUpdated'>>,
): UserCandidates {
  const newest = new Map<string, { user: UserColumns; lastUpdated: string | null }>()
  for (const { people, lastUpdated } of comments) {
    for (const user of people) {
      const other = newest.get(user.userId)
      if (other === undefined || (lastUpdated ?? '') > (other.lastUpdated ?? ''))
        newest.set(user.userId, { user, lastUpdated })
    }
  }
  const candidates: UserCandidates = new Map()
  for (const [userId, { user, lastUpdated }] of newest) {
    const from = { source: USER_SOURCES.comment, sourceAt: lastUpdated, listed: false }
    candidates.set(userId, { ...user, digest: digestOfUser(user), ...from })
  }
  return candidates
}

/** The candidates that would change what is stored. */
export function rowsToPut(
  candidates: UserCandidates,
  stored: ReadonlyMap<string, StoredUser>,
): UserRow[] {
  return [...candidates.values()].filter((row) => changes(row, stored.get(row.userId)))
}

/** Whether a row would change what is stored: the rule of users/change.sql, so that no write is sent in vain. */
export function changes(row: UserRow, before: StoredUser | undefined): boolean {
  if (before === undefined || row.source > before.source) return true
  if (row.source < before.source) return false
  if (row.source === USER_SOURCES.comment) {
    const shownAt = row.sourceAt === null ? null : new Date(row.sourceAt)
    if (isLater(before.sourceAt, shownAt)) return false
    // The time counts by itself: else a comment between the two would show the person as they were before.
    if (isLater(shownAt, before.sourceAt)) return true
  }
  return !row.digest.equals(before.digest) || (row.listed && !before.listed)
}

/** Whether the first of two times is the later one; none is earlier than any. */
function isLater(a: Date | null, b: Date | null): boolean {
  return a !== null && (b === null || a.getTime() > b.getTime())
}
