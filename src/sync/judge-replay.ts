import type { CommentContent, UserContent } from '../database/contents.ts'
import type { RowOf } from '../database/statement.ts'
import type { page } from '../database/statements/rejected.ts'
import type { UserSource } from '../database/users.ts'
import type { CommentRecord } from './comment-record.ts'
import type { UserRecord } from './user-record.ts'

/** A rejected record, or a record of which a member was rejected: its JSON text as it was received. */
export type RejectedRow = RowOf<typeof page> & { readonly organizationId: string }

/** A rejected record in which today's readers find no fault. */
export interface Rereading<T> {
  readonly row: RejectedRow
  readonly record: T
}

/**
 * Of each comment or user the reading that was received last, if its scope was not checked after it was: a later check
 * has seen the record again and rejected it in a row of its own, or has not found it.
 * @param readings the newest first
 */
export function newestOfEach<T>(
  readings: readonly Rereading<T>[],
  checkedAt: Date | null,
  idOf: (record: T) => unknown,
): Rereading<T>[] {
  const newest = new Map<unknown, Rereading<T>>()
  for (const reading of readings) {
    if (checkedAt !== null && reading.row.at < checkedAt) continue
    const id = idOf(reading.record)
    if (!newest.has(id)) newest.set(id, reading)
  }
  return [...newest.values()]
}

/**
 * Whether a comment may take the place of what is stored: nothing, or the part of it that could be stored then. Nothing was
 * stored of one that was rejected as a whole: what is there is another record, such as the twin that was stored.
 */
export function mayReplaceComment(
  before: CommentContent | undefined,
  { row, record }: Rereading<CommentRecord>,
): boolean {
  if (before === undefined) return true
  if (row.isWhole || before.deleted || before.changedAt > row.at) return false
  return (
    isPart(before.lastUpdated?.toISOString() ?? null, record.lastUpdated) &&
    isPart(before.commentText, record.commentText) &&
    isPart(before.commentHtml, record.commentHtml) &&
    isPart(before.status, record.status) &&
    isPart(before.type, record.type) &&
    isPart(before.authorUserId, record.authorUserId) &&
    isPart(before.authorName, record.authorName) &&
    isPart(before.authorEmail, record.authorEmail)
  )
}

/**
 * The same for a user. Between sources the writers' own rule decides, and an equal row is not written.
 * @param source what the rejected record's listing counts as
 */
export function mayReplaceUser(
  before: UserContent | undefined,
  { row, record }: Rereading<UserRecord>,
  source: UserSource,
): boolean {
  if (before === undefined || before.source !== source) return true
  if (before.digest.equals(record.digest)) return true
  if (row.isWhole || before.changedAt > row.at) return false
  return isPart(before.name, record.name) && isPart(before.email, record.email)
}

/** A column that had to be set to null is part of any value. */
function isPart(stored: string | null, received: string | null): boolean {
  return stored === null || stored === received
}
