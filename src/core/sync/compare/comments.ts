import type { StoredComment } from '../../database/comments.ts'
import type { BatchScope } from '../../database/scopes.ts'
import type { CommentRecord } from '../record/comment.ts'

/** What a response changes in one annotation. */
export interface CommentChanges {
  readonly added: readonly CommentRecord[]
  readonly changed: readonly CommentRecord[]
  readonly deleted: readonly number[]
  readonly unchanged: number
  /** Live comments once the changes are made. */
  readonly live: number
}

/**
 * Compares a response with what is stored of its annotation.
 * @param gone ids for which there is evidence of deletion; nothing else deletes
 */
export function compareComments(
  stored: ReadonlyMap<number, StoredComment>,
  records: readonly CommentRecord[],
  gone: readonly number[],
): CommentChanges {
  const added: CommentRecord[] = []
  const changed: CommentRecord[] = []
  let live = 0
  for (const { deleted } of stored.values()) if (!deleted) live += 1
  for (const record of records) {
    const before = stored.get(record.commentId)
    if (before === undefined) added.push(record)
    else if (before.deleted || !before.digest.equals(record.digest)) changed.push(record)
    if (before === undefined || before.deleted) live += 1
  }
  const deleted = gone.filter((id) => stored.get(id)?.deleted === false)
  return {
    added,
    changed,
    deleted,
    unchanged: records.length - added.length - changed.length,
    live: live - deleted.length,
  }
}

/**
 * The time before which comments that are new now cannot have been written: the last good check of the annotation. Null where a
 * response since then left no digest, since it had comments that could not be stored, or lacked some that were there.
 */
export function notBeforeOf({ checkedAt, contentDigest }: BatchScope): Date | null {
  return contentDigest === null ? null : (checkedAt ?? null)
}

/**
 * When an annotation last changed: the latest lastUpdated of what was added or edited. A change without a time since the last
 * check, such as a deletion, happened between that check and this one: the middle is taken. In ISO 8601; null where nothing
 * changed, or a first response has no time.
 * @param at when the response was fetched
 */
export function activeAtOf(
  { added, changed, deleted }: Pick<CommentChanges, 'added' | 'changed' | 'deleted'>,
  { checkedAt = null }: BatchScope,
  at: Date,
): string | null {
  if (added.length + changed.length + deleted.length === 0) return null
  let latest: string | null = null
  for (const { lastUpdated } of [...added, ...changed])
    if (lastUpdated !== null && (latest === null || lastUpdated > latest)) latest = lastUpdated
  if (checkedAt === null) return latest
  const middle = new Date((checkedAt.getTime() + at.getTime()) / 2).toISOString()
  const isSince = latest !== null && Date.parse(latest) > checkedAt.getTime()
  if (isSince && (deleted.length === 0 || (latest ?? '') > middle)) return latest
  return middle
}
