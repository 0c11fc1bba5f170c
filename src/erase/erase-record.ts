import { parse, stringify } from 'lossless-json'
import type { CommentErased, CommentToErase } from '../database/erase-comments.ts'
import type { UserErased, UserToErase } from '../database/erase.ts'
import { redactComment, redactUser } from '../privacy/redact.ts'
import type { Redaction } from '../privacy/redact.ts'
import { readComment } from '../sync/comment-record.ts'
import { receivedBefore } from '../sync/received.ts'
import type { Received } from '../sync/received.ts'
import { readUsers } from '../sync/user-record.ts'

/**
 * A stored comment as the next sync will read it: put together again, redacted, and read by the very readers of a sync. So
 * its digest is the one that the next answer gives, and an unchanged service touches no row after an erasure.
 */
export function eraseCommentRecord(stored: CommentToErase, redaction: Redaction): CommentErased {
  const { annotationKey, commentId, authorUserId: userId, authorName, authorEmail, rest } = stored
  const author = withoutNulls({ userId, name: authorName, email: authorEmail })
  const record = {
    ...withoutNulls({
      commentId,
      commentText: stored.commentText,
      commentHtml: stored.commentHtml,
      lastUpdated: stored.lastUpdated?.toISOString() ?? null,
      status: stored.status,
      type: stored.type,
    }),
    ...(Object.keys(author).length === 0 ? {} : { from: author }),
    ...membersOf(rest),
  }
  const item = readComment(again(redactComment(record, redaction)), 0, () => {})
  if ('fault' in item) throw new Error(`A stored comment cannot be read again: ${item.fault}.`)
  const { commentText, commentHtml, authorUserId, digest } = item.record
  return {
    annotationKey,
    commentId,
    commentText,
    commentHtml,
    authorUserId,
    authorName: item.record.authorName,
    authorEmail: item.record.authorEmail,
    rest: item.record.rest,
    digest,
  }
}

/** A stored user, as eraseCommentRecord has comments. */
export function eraseUserRecord(stored: UserToErase, redaction: Redaction): UserErased {
  const { organizationKey, userId, name, email, rest } = stored
  const record = { ...withoutNulls({ userId, name, email }), ...membersOf(rest) }
  const [read] = readUsers(again(redactUser(record, redaction))).records
  if (read === undefined) throw new Error('A stored user cannot be read again.')
  return {
    organizationKey,
    userId,
    newUserId: read.userId,
    name: read.name,
    email: read.email,
    rest: read.rest,
    digest: read.digest,
  }
}

function again(record: unknown): Received {
  return receivedBefore(stringify(record) ?? '') as Received
}

/** Numbers keep every digit. */
function membersOf(rest: string | null): Record<string, unknown> {
  return rest === null ? {} : (parse(rest) as Record<string, unknown>)
}

function withoutNulls(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}
