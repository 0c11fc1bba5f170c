import { parse, stringify } from 'lossless-json'
import type { RowOf } from '../database/statement.ts'
import type * as erase from '../database/statements/erase.ts'
import { redactComment, redactUser } from '../privacy/redact.ts'
import type { Redaction } from '../privacy/redact.ts'
import { readComment } from '../sync/record/comment.ts'
import { receivedBefore } from '../sync/record/received.ts'
import type { Received } from '../sync/record/received.ts'
import { readUsers } from '../sync/record/user.ts'

/** A stored comment; `rest` is JSON text. */
export type CommentToErase = RowOf<typeof erase.readComments>
/** A comment as it is to be stored now. */
export type CommentErased = Omit<CommentToErase, 'lastUpdated'> & { readonly digest: Buffer }

/** A stored user; `rest` is JSON text. */
export type UserToErase = RowOf<typeof erase.readUsers>
/** A user as it is to be stored in the place of another one. */
export type UserErased = UserToErase & { readonly newUserId: string; readonly digest: Buffer }

/**
 * A stored comment as the next sync will read it: put together again, redacted, and read by the very readers of a sync. So
 * its digest is the one that the next answer gives, and an unchanged service touches no row after an erasure. Null where
 * nothing of it changes.
 */
export function eraseCommentRecord(
  stored: CommentToErase,
  redaction: Redaction,
): CommentErased | null {
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
  const redacted = redactComment(record, redaction)
  if (stringify(redacted) === stringify(record)) return null
  const item = readComment(again(redacted), 0, () => {})
  if ('fault' in item) throw new Error(`A stored comment cannot be read again: ${item.fault}.`)
  const read = item.record
  return {
    annotationKey,
    commentId,
    commentText: read.commentText,
    commentHtml: read.commentHtml,
    authorUserId: read.authorUserId,
    authorName: read.authorName,
    authorEmail: read.authorEmail,
    status: read.status,
    type: read.type,
    rest: read.rest,
    digest: read.digest,
  }
}

/** A stored user, as eraseCommentRecord has comments. */
export function eraseUserRecord(stored: UserToErase, redaction: Redaction): UserErased | null {
  const { organizationKey, userId, name, email, rest } = stored
  const record = { ...withoutNulls({ userId, name, email }), ...membersOf(rest) }
  const redacted = redactUser(record, redaction)
  if (stringify(redacted) === stringify(record)) return null
  const [read] = readUsers(again(redacted)).records
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
  return receivedBefore(stringify(record) ?? '', null)
}

/** Numbers keep every digit. */
function membersOf(rest: string | null): Record<string, unknown> {
  return rest === null ? {} : (parse(rest) as Record<string, unknown>)
}

function withoutNulls(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}

/** Characters that are rewritten at a time, but for a longer row: PostgreSQL and V8 both have a limit of one value. */
const UNITS_A_PIECE = 16_000_000

/**
 * Rows in pieces, each for a transaction of its own: of one group, of at most so many rows, and of so many characters.
 * @param rows those of one group one after the other
 * @param unitsOf the characters of a row; left out where they are few
 */
export function piecesOf<T>(
  rows: readonly T[],
  rowsMax: number,
  groupOf: (row: T) => unknown,
  unitsOf: (row: T) => number = () => 0,
): [T, ...T[]][] {
  const pieces: [T, ...T[]][] = []
  let units = 0
  for (const row of rows) {
    const last = pieces.at(-1)
    const own = unitsOf(row)
    const isFull = last === undefined || last.length === rowsMax || units + own > UNITS_A_PIECE
    if (isFull || groupOf(last[0]) !== groupOf(row)) {
      pieces.push([row])
      units = 0
    } else last.push(row)
    units += own
  }
  return pieces
}
