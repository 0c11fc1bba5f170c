import type { StoredComment } from '../../database/comments.ts'
import type { BatchScope } from '../../database/scopes.ts'
import type { CommentRecord } from '../record/comment.ts'

/** What an answer changes of one annotation. */
export interface CommentChanges {
  readonly added: readonly CommentRecord[]
  readonly changed: readonly CommentRecord[]
  readonly deleted: readonly number[]
  readonly unchanged: number
  /** Live comments once the changes are made. */
  readonly live: number
}

/**
 * Compares an answer with what is stored of its annotation.
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
  const received = new Set(records.map(({ commentId }) => commentId))
  const deleted = gone.filter((id) => stored.get(id)?.deleted === false && !received.has(id))
  return {
    added,
    changed,
    deleted,
    unchanged: records.length - added.length - changed.length,
    live: live - deleted.length,
  }
}

/**
 * Before when comments of the annotation that are new now cannot have been written: its last good check. Null where an answer
 * since then left no digest: it held comments that could not be stored, or lacked some that were there.
 */
export function notBeforeOf({ checkedAt, contentDigest }: BatchScope): Date | null {
  return contentDigest === null ? null : (checkedAt ?? null)
}

/**
 * When an annotation last changed, as far as an answer tells: by lastUpdated of what was added or edited. What has no time since
 * the last check, such as a deletion, happened at some time between: the middle is taken. In ISO 8601; null where nothing changed,
 * or a first answer tells no time.
 * @param at when the answer was asked for
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

/** What an answer changes of one listing of members. */
export interface MemberChanges {
  readonly joined: readonly string[]
  /** Of those who joined, how many had been there before. */
  readonly cameBack: number
  readonly missing: readonly string[]
  /** Members before the answer. */
  readonly before: number
}

/**
 * Compares a listing with its stored members: user id -> true where they left.
 * @param rejected named by the listing, but nothing of them could be stored: they neither join nor are missing
 */
export function compareMembers(
  stored: ReadonlyMap<string, boolean>,
  received: ReadonlySet<string>,
  rejected: ReadonlySet<string> = new Set(),
): MemberChanges {
  const joined = [...received].filter((id) => stored.get(id) !== false)
  const present = [...stored].filter(([, left]) => !left).map(([id]) => id)
  return {
    joined,
    cameBack: joined.filter((id) => stored.has(id)).length,
    missing: present.filter((id) => !received.has(id) && !rejected.has(id)),
    before: present.length,
  }
}

/** Losing no more than this many is never suspicious, unless one response lacks everybody. */
const SMALL_LOSS = 10

/**
 * Whether one response lacks so many members that a person should decide first. The service has no operation that confirms
 * a removal, as it has for comments.
 * @param limit fraction of the members, `SYNC_SHRINK_LIMIT`
 */
export function isSuspiciousLoss({ missing, before }: MemberChanges, limit: number): boolean {
  return (
    missing.length > 0 && (missing.length === before || isLargeLoss(missing.length, before, limit))
  )
}

/** What a listing that lacks members is compared with: see held/baseline.sql. */
export interface Baseline {
  readonly mostMembers: number
  readonly disputedUserIds: readonly string[]
}

/**
 * Whether a listing that lacks members lost too many over several responses, or a loss that is held or refused would end
 * without a decision. Compares sizes: a listing in which users replace each other does not shrink.
 * @param limit as in isSuspiciousLoss
 */
export function isSuspiciousSince(
  { mostMembers, disputedUserIds }: Baseline,
  { missing, before, joined }: MemberChanges,
  limit: number,
): boolean {
  const lost = mostMembers - (before + joined.length - missing.length)
  const isMissing = new Set(missing)
  return isLargeLoss(lost, mostMembers, limit) || disputedUserIds.some((id) => isMissing.has(id))
}

function isLargeLoss(lost: number, before: number, limit: number): boolean {
  return lost > SMALL_LOSS && lost > before * limit
}
