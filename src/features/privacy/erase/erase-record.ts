import { parse, stringify } from 'lossless-json'
import { COMMENT_COLUMN_LIST, textsOf, USER_COLUMN_LIST } from '../../../base/columns.ts'
import type { NamedColumn } from '../../../base/columns.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import type * as erase from '../../../core/database/statements/erase.ts'
import { redactComment, redactUser } from '../redact.ts'
import type { Redaction } from '../redact.ts'
import type { Json } from '../../../base/json.ts'
import { COMMENTS } from '../../../core/sync/record/comment.ts'
import type { CommentRecord } from '../../../core/sync/record/comment.ts'
import { readAgain } from '../../../core/sync/record/records.ts'
import { USERS } from '../../../core/sync/record/user.ts'
import type { UserRecord } from '../../../core/sync/record/user.ts'

/** A stored comment; `rest` is JSON text. */
export type CommentToErase = RowOf<typeof erase.readComments>
/** A comment as it is to be stored now. */
export type CommentErased = CommentRecord & { readonly annotationKey: number }

/** A stored user; `rest` is JSON text. */
export type UserToErase = RowOf<typeof erase.readUsers>
/** A user as it is to be stored in the place of another one. */
export type UserErased = UserRecord & {
  readonly organizationKey: number
  readonly newUserId: string
}

/**
 * A stored comment as the next sync will read it: put together again, redacted, and read by the very readers of a sync. So
 * its digest is the one that the next answer gives, and an unchanged service touches no row after an erasure. Null where
 * nothing of it changes.
 */
export function eraseCommentRecord(
  stored: CommentToErase,
  redaction: Redaction,
): CommentErased | null {
  const { annotationKey, commentId } = stored
  const record = recordOf({ commentId }, COMMENT_COLUMN_LIST, stored)
  const redacted = redactComment(record, redaction)
  if (stringify(redacted) === stringify(record)) return null
  const read = readAgain(COMMENTS, stringify(redacted) ?? '')
  return Object.assign(read, { annotationKey })
}

/** A stored user, as eraseCommentRecord has comments. */
export function eraseUserRecord(stored: UserToErase, redaction: Redaction): UserErased | null {
  const { organizationKey, userId } = stored
  const record = recordOf({ userId }, USER_COLUMN_LIST, stored)
  const redacted = redactUser(record, redaction)
  if (stringify(redacted) === stringify(record)) return null
  const read = readAgain(USERS, stringify(redacted) ?? '')
  return { ...read, organizationKey, userId, newUserId: read.userId }
}

/** The record that was received, but for members that could not be stored; numbers of `rest` keep every digit. */
function recordOf<Name extends string>(
  key: Json,
  columns: readonly NamedColumn<Name>[],
  row: Readonly<Record<Name, string | Date | null>>,
): Json {
  const record = { ...key }
  const author: Json = {}
  let rest = {}
  for (const [index, text] of textsOf(columns, row).entries()) {
    const member = columns[index]?.member
    if (text === null || member === undefined) continue
    if (member === null) rest = parse(text) as Json
    else if (member.startsWith('from.')) author[member.slice('from.'.length)] = text
    else record[member] = text
  }
  // What a column cannot give back exactly is in rest as well.
  return { ...record, ...(Object.keys(author).length === 0 ? {} : { from: author }), ...rest }
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
