import { parse, stringify } from 'lossless-json'
import { COMMENT_COLUMN_LIST, textsOf, USER_COLUMN_LIST } from '../../../base/columns.ts'
import type { NamedColumn } from '../../../base/columns.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import type * as erase from '../../../core/database/statements/erase.ts'
import { redactComment, redactUser, STAYING } from '../redact.ts'
import type { Redaction } from '../redact.ts'
import type { Json } from '../../../base/json.ts'
import { COMMENTS } from '../../../core/sync/record/comment.ts'
import { readAgain } from '../../../core/sync/record/records.ts'
import type { RecordReader } from '../../../core/sync/record/records.ts'
import { USERS } from '../../../core/sync/record/user.ts'

/** A stored comment; `rest` is JSON text. */
export type CommentToErase = RowOf<typeof erase.readComments>

/** A stored comment without the person; null if nothing of it changes. */
export function eraseCommentRecord(stored: CommentToErase, redaction: Redaction) {
  const { annotationKey, commentId } = stored
  const record = recordOf({ commentId }, COMMENT_COLUMN_LIST, stored)
  const read = readChanged(COMMENTS, record, redactComment(record, redaction))
  return read && Object.assign(read, { annotationKey })
}

/** Whether a stored comment has nothing but what stays of an erased author's. */
export function isBare(stored: CommentToErase): boolean {
  return Object.keys(recordOf({}, COMMENT_COLUMN_LIST, stored)).every((name) => STAYING.has(name))
}

/** A stored user without the person; null if nothing of it changes. */
export function eraseUserRecord(stored: RowOf<typeof erase.readUsers>, redaction: Redaction) {
  const { organizationKey, userId } = stored
  const record = recordOf({ userId }, USER_COLUMN_LIST, stored)
  const read = readChanged(USERS, record, redactUser(record, redaction))
  return read && { ...read, organizationKey, userId, newUserId: read.userId }
}

/**
 * Reads a redacted record as a sync does. So its digest is that of the next response, and an unchanged service touches no
 * row after an erasure.
 */
function readChanged<Id, R>(
  reader: RecordReader<Id, R>,
  record: Json,
  redacted: unknown,
): R | null {
  const text = stringify(redacted) ?? ''
  return text === stringify(record) ? null : readAgain(reader, text)
}

/** The record that was received, but for members that could not be stored; numbers of `rest` keep every digit. */
function recordOf<Name extends string>(
  key: Json,
  columns: readonly NamedColumn<Name>[],
  row: Readonly<Record<Name, string | Date | null>>,
): Json {
  const record = { ...key }
  let rest = {}
  for (const [index, text] of textsOf(columns, row).entries()) {
    const member = columns[index]?.member
    if (text === null || member === undefined) continue
    const [holder, field] = member?.split('.') ?? []
    if (holder === undefined) rest = parse(text) as Json
    else record[holder] = field === undefined ? text : { ...Object(record[holder]), [field]: text }
  }
  // What a column cannot give back exactly is in rest as well.
  return { ...record, ...rest }
}
