import { COMMENT_COLUMN_LIST, unitsOf } from '../columns.ts'
import type { CommentColumns, NamedColumn } from '../columns.ts'
import { CopyWriter } from './copy-writer.ts'
import { UTC_DAYS } from './zone-days.ts'
import type { ZoneDays } from './zone-days.ts'

/**
 * Binary rows for `copy ... with (format binary)`: twice as fast as text parameters, and nothing to escape
 * (PostgreSQL documentation, COPY, "Binary Format").
 */

/** A comment with the digest of its columns, by which the next answer is compared with it. */
export interface CommentRow extends CommentColumns {
  readonly digest: Buffer
  /** When it says itself that it was written, in ISO 8601; null where it does not. */
  readonly writtenAt: string | null
  /** As it is known from this version alone: `writtenAt`, else its `lastUpdated`. */
  readonly knownWrittenAt: string | null
}

/** Comments of one annotation. */
export interface AnnotationComments {
  readonly organizationKey: number
  readonly annotationKey: number
  /** Comments that are new were not there at this time; null where that is not known. */
  readonly notBefore: Date | null
  /** When they were seen; left out where the time of their commit holds. */
  readonly seenAt?: Date | undefined
  readonly comments: readonly CommentRow[]
}

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const TRAILER = Buffer.from([0xff, 0xff])
/** Columns of our own, before those of the record. */
const OWN_COLUMNS = 12
/** Bytes of a row before the record's columns: how many there are, then a length word and a value for each of our own. */
const HEAD_BYTES =
  2 + 2 * (4 + 4) + (4 + 8) + 3 * (4 + 8) + (4 + 4) + (4 + 16) + (4 + 5) + (4 + 4) + 2 * (4 + 8)
/** Of a column of the record besides its text: a length word, and the version of jsonb. */
const COLUMN_BYTES = 4 + 1
const VERSION_1 = 1

/** What the server is sent at a time: each costs a message. */
const CHUNK_BYTES = 64 * 1024

/** Rows as the server takes them. */
export interface EncodedRows {
  /** Bytes of all rows. */
  readonly bytes: number
  /** Some rows in each. */
  readonly chunks: readonly Buffer[]
}

/** Rows as they are sent to the server: bytes outside of the heap, which may be kept until they are written. */
export class CommentRows implements EncodedRows {
  readonly #at: Date
  readonly #days: ZoneDays
  readonly #writers: CopyWriter[] = []
  /** Of all writers but the last. */
  #fullBytes = 0

  /**
   * @param at when the comments were first seen
   * @param days those of reports
   */
  constructor(at: Date, days: ZoneDays = UTC_DAYS) {
    this.#at = at
    this.#days = days
  }

  get bytes(): number {
    return this.#fullBytes + (this.#writers.at(-1)?.length ?? 0)
  }

  get chunks(): readonly Buffer[] {
    return this.#writers.map(({ written }) => written)
  }

  /** Adds all of the comments, or none where one of them cannot be a row. */
  add({ comments, ...keys }: AnnotationComments): void {
    const before = this.bytes
    const atMs = (keys.seenAt ?? this.#at).getTime()
    try {
      for (const comment of comments)
        encodeRow(this.#writerOf(sizeMax(comment)), keys, comment, atMs, this.#days)
    } catch (error) {
      this.#rewind(before)
      throw error
    }
  }

  /** The rows that were added between two values of `bytes`. */
  between(from: number, to: number): Buffer[] {
    let start = 0
    return this.chunks.flatMap((chunk) => {
      const [begin, end] = [Math.max(from - start, 0), Math.min(to - start, chunk.length)]
      start += chunk.length
      return begin < end ? [chunk.subarray(begin, end)] : []
    })
  }

  #writerOf(bytesMax: number): CopyWriter {
    const last = this.#writers.at(-1)
    if (last !== undefined && bytesMax <= last.room) return last
    this.#fullBytes += last?.length ?? 0
    const next = new CopyWriter(Buffer.allocUnsafe(Math.max(bytesMax, CHUNK_BYTES)))
    this.#writers.push(next)
    return next
  }

  #rewind(bytes: number): void {
    this.#fullBytes = 0
    for (const [index, writer] of this.#writers.entries()) {
      if (this.#fullBytes + writer.length >= bytes) {
        writer.rewind(bytes - this.#fullBytes)
        this.#writers.length = index + 1
        return
      }
      this.#fullBytes += writer.length
    }
  }
}

/** Comments that are encoded at a time: a large answer must not be in memory once more as rows. */
const COMMENTS_AT_A_TIME = 1000

/** Rows made while they are sent. */
export function* encodeRows(
  annotations: Iterable<AnnotationComments>,
  at: Date,
  days: ZoneDays = UTC_DAYS,
): Generator<Buffer> {
  let rows = new CommentRows(at, days)
  for (const { comments, ...keys } of annotations) {
    for (let start = 0; start < comments.length; start += COMMENTS_AT_A_TIME) {
      rows.add({ ...keys, comments: comments.slice(start, start + COMMENTS_AT_A_TIME) })
      if (rows.bytes < CHUNK_BYTES) continue
      yield* rows.chunks
      rows = new CommentRows(at, days)
    }
  }
  yield* rows.chunks
}

/** Rows with header and trailer, as the server takes them. */
export function* copyOf(...rows: Iterable<Buffer>[]): Generator<Buffer> {
  yield SIGNATURE
  for (const chunks of rows) yield* chunks
  yield TRAILER
}

/** In the order of sql/queries/comments/copy.sql. */
function encodeRow(
  writer: CopyWriter,
  keys: Omit<AnnotationComments, 'comments'>,
  comment: CommentRow,
  atMs: number,
  days: ZoneDays,
): void {
  writer.int16(OWN_COLUMNS + COMMENT_COLUMN_LIST.length)
  writer.int4(keys.organizationKey)
  writer.int4(keys.annotationKey)
  writer.int8(comment.commentId)
  writer.time(atMs)
  writer.time(atMs)
  writer.time(atMs)
  writer.int4(VERSION_1)
  writer.bytes(comment.digest)
  writer.text('added')
  if (comment.knownWrittenAt === null) writer.nothing()
  else writer.day(days.dayOf(Date.parse(comment.knownWrittenAt)))
  if (comment.writtenAt === null) writer.nothing()
  else writer.time(Date.parse(comment.writtenAt))
  if (keys.notBefore === null) writer.nothing()
  else writer.time(keys.notBefore.getTime())
  for (const [index, text] of comment.texts.entries()) writeColumn(writer, TYPES[index], text)
}

const TYPES = COMMENT_COLUMN_LIST.map(({ type }) => type)

function writeColumn(
  writer: CopyWriter,
  type: NamedColumn['type'] | undefined,
  value: string | null,
): void {
  if (type === 'text') writer.text(value)
  else if (type === 'jsonb') writer.jsonb(value)
  else if (value === null) writer.nothing()
  else writer.time(Date.parse(value))
}

function sizeMax(comment: CommentColumns): number {
  return HEAD_BYTES + COLUMN_BYTES * comment.texts.length + 3 * unitsOf(comment.texts)
}
