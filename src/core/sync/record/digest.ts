import { createHash, hash } from 'node:crypto'
import { isLosslessNumber } from 'lossless-json'
import { COMMENT_COLUMN_LIST, unitsOf, USER_COLUMN_LIST } from '../../../base/columns.ts'
import type { CommentColumns, UserColumns } from '../../../base/columns.ts'
import type { ScopeIds } from '../../database/scopes.ts'
import type { Operation } from '../../../base/operations.ts'
import { isObject, parseExact } from '../../../base/json.ts'
import { shortDigest } from '../../service/response.ts'

/**
 * Raised when what a record's columns are made of changes: every stored digest then differs once. A body that is known by
 * its digest is still not parsed: where it must be, a migration has to empty the stored body digests too.
 */
const DIGEST_FORMAT = '2'

/** A digest of all that is stored of a user. */
export function digestOfUser({ userId, texts }: UserColumns): Buffer {
  const [name = null, email = null, rest, ...later] = texts
  // As with comments, a later column counts by its name, and only where it holds something.
  const named = later.flatMap((text, index) => (text === null ? [] : [[LATER_NAMES[index], text]]))
  const laterText = named.length === 0 ? '' : JSON.stringify(named)
  const text = JSON.stringify([userId, name, email]) + (rest ?? '') + laterText
  return shortDigest(hash('sha256', DIGEST_FORMAT + text, 'binary'))
}

const LATER_NAMES = USER_COLUMN_LIST.slice(3).map(({ name }) => name)

/**
 * One digest for the records of a listing by their IDs, the same for any order. Sorted by UTF-16: PostgreSQL, whose order may
 * differ, makes no such digest.
 */
export function digestOfListing(records: ReadonlyMap<string, { readonly digest: Buffer }>): Buffer {
  const inOrder = [...records].sort(([a], [b]) => (a < b ? -1 : 1))
  const digests = inOrder.map(([, { digest }]) => digest)
  return shortDigest(hash('sha256', Buffer.concat(digests), 'binary'))
}

/**
 * A digest by which a rejected record is recognized: of its scope and its content, whatever the order of its members, or of the
 * reason if its text is not known.
 */
export function digestOfRejected(
  operation: Operation,
  { organizationId, documentId, annotationId, organizationUserGroupId }: ScopeIds,
  { record, reason }: { record: string; reason: string },
): Buffer {
  const ids = [organizationId, documentId, annotationId, organizationUserGroupId]
  const content = record === '' ? reason : canonicalText(record)
  return shortDigest(hash('sha256', JSON.stringify([operation, ...ids]) + content, 'binary'))
}

/** A longer text is taken as it is: to parse it exactly would block the commit. */
const CANONICAL_UNITS_MAX = 100_000

/** The text itself where it is long or no JSON. What is nested deeper than is stored does not count. */
function canonicalText(json: string): string {
  if (json.length > CANONICAL_UNITS_MAX) return json
  try {
    return canonicalJson(parseExact(json))
  } catch {
    return json
  }
}

/** JSON with the keys of every object in order, so that equal content gives equal text. Numbers may be lossless ones. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (isLosslessNumber(value)) return value.value
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join()}}`
}

/**
 * One digest for comments, in the order given. Equal content gives the same digest in any order of its members. Their
 * columns are written as bytes into one buffer that all calls share: joined as texts they would each be copied twice, and all
 * of a large response would be in memory once more.
 * @param onEach called with the digest of each comment by itself too, which costs little while its bytes are there
 */
export function digestOfComments<T extends CommentColumns>(
  comments: Iterable<T>,
  onEach?: (comment: T, digest: Buffer) => void,
): Buffer {
  let hashing: ReturnType<typeof createHash> | null = null
  let buffer = shared
  let at = 0
  for (const comment of comments) {
    const bytes = bytesMax(comment)
    if (at + bytes > buffer.length) {
      hashing = (hashing ?? createHash('sha256')).update(buffer.subarray(0, at))
      buffer = bytes > SHARED_BYTES ? Buffer.allocUnsafe(bytes) : shared
      at = 0
    }
    const start = at
    at = writeContent(buffer, start, comment)
    onEach?.(comment, shortDigest(hash('sha256', buffer.subarray(start, at), 'binary')))
  }
  const left = buffer.subarray(0, at)
  return shortDigest(
    hashing === null ? hash('sha256', left, 'binary') : hashing.update(left).digest('binary'),
  )
}

const SHARED_BYTES = 256 * 1024
const shared = Buffer.allocUnsafe(SHARED_BYTES)

/**
 * Columns that a digest of this format always takes. A later one counts by its name, and only where it holds something: so
 * that a new column changes no digest of a record that lacks it.
 */
const FIRST_COLUMNS = 9
const NAMES = COMMENT_COLUMN_LIST.map(({ name }) => name)
/** The format, the id, a length word for each text, and the names of later columns. */
const BYTES_BESIDES_TEXTS = DIGEST_FORMAT.length + 8 + 8 * NAMES.length + NAMES.join('').length

function bytesMax(comment: CommentColumns): number {
  return BYTES_BESIDES_TEXTS + 3 * unitsOf(comment.texts)
}

/** Each column with its length, so that no two comments can give the same bytes. @returns where the next one goes */
function writeContent(buffer: Buffer, start: number, { commentId, texts }: CommentColumns): number {
  let at = start + buffer.write(DIGEST_FORMAT, start, 'latin1')
  at = buffer.writeDoubleBE(commentId, at)
  for (let index = 0; index < NAMES.length; index++) {
    const text = texts[index] ?? null
    if (index >= FIRST_COLUMNS) {
      if (text === null) continue
      at = writeText(buffer, at, NAMES[index] as string)
    }
    at = writeText(buffer, at, text)
  }
  return at
}

/** Null is distinct from an empty text. */
function writeText(buffer: Buffer, at: number, text: string | null): number {
  if (text === null) return buffer.writeInt32BE(-1, at)
  const bytes = buffer.write(text, at + 4, 'utf8')
  buffer.writeInt32BE(bytes, at)
  return at + 4 + bytes
}
