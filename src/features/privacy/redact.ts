import { COMMENT_MEMBERS, USER_MEMBERS } from '../../base/columns.ts'
import { isObject, pick } from '../../base/json.ts'
import type { Json } from '../../base/json.ts'
import {
  LEFT_OUT,
  STATES,
  WORDS,
  bareComment,
  erasedAs,
  redactJson,
  redactMembers,
  redactMessage,
  redactPath,
  redactValue,
} from './redact-members.ts'
import type { Redaction } from './redact-members.ts'

export type { Redaction } from './redact-members.ts'

/**
 * A comment as received, without what may not be stored.
 * The words of a comment are its author's: they are emptied when the author is erased. In the words of others, only
 * addresses of an erased person and ids in URLs are replaced.
 */
export function redactComment(item: unknown, redaction: Redaction): unknown {
  if (!isObject(item)) return redactOther(item, redaction)
  const bare = bareComment(item, redaction)
  if (bare !== null) return bare
  const kept = redaction.keepsUnknown ? item : pick(item, COMMENT_MEMBERS)
  return redactMembers(kept, redaction, (name, value) => {
    if (name === 'from' && isObject(value)) return redactUser(value, redaction)
    return WORDS.has(name) || STATES.has(name) ? redactMessage(value, redaction) : LEFT_OUT
  })
}

/** A user as received, in a listing or as `from`, without what may not be stored. */
export function redactUser(item: unknown, redaction: Redaction): unknown {
  if (!isObject(item)) return redactOther(item, redaction)
  const erased = erasedAs(item, redaction, '')
  if (erased !== null) return erased
  const kept = redaction.keepsUnknown ? item : pick(item, USER_MEMBERS)
  return redactMembers(kept, redaction, (name, value) =>
    name === 'userId' && typeof value === 'string' ? value : LEFT_OUT,
  )
}

/** What is no record may hold an address all the same; it is kept as a rejected one. */
function redactOther(item: unknown, redaction: Redaction): unknown {
  const redacted = redactValue(item, redaction, '', '')
  return redacted === LEFT_OUT ? null : redacted
}

/** A row of a table, as its columns that can hold text; an array `path` has the names that lead to a member of a record. */
export function redactRow(row: object, redaction: Redaction): Record<string, unknown> {
  return redactMembers(row as Json, redaction, (name, value) => {
    if (name === 'path' && Array.isArray(value)) return redactPath(value, redaction)
    if (WORDS.has(name)) return redactMessage(value, redaction)
    return typeof value === 'string' ? redactJson(value, redaction) : LEFT_OUT
  })
}
