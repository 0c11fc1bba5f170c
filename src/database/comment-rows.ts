/**
 * Binary rows for `copy ... with (format binary)`: twice as fast as text parameters, and nothing to escape
 * (PostgreSQL documentation, COPY, "Binary Format"; times are microseconds since 2000-01-01).
 */

/** A comment in the columns of comments/copy.sql. */
export interface CommentColumns {
  readonly commentId: number
  /** ISO 8601 or null. */
  readonly lastUpdated: string | null
  readonly digest: Buffer
  readonly status: string | null
  readonly type: string | null
  readonly authorUserId: string | null
  readonly authorName: string | null
  readonly authorEmail: string | null
  readonly commentText: string | null
  readonly commentHtml: string | null
  readonly rest: string | null
}

/** Comments of one annotation. */
export interface AnnotationComments {
  readonly organizationKey: number
  readonly annotationKey: number
  readonly comments: readonly CommentColumns[]
}

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const TRAILER = Buffer.from([0xff, 0xff])
const EPOCH_2000_MS = Date.UTC(2000, 0, 1)
const COLUMNS = 18
/** Bytes of a row before its texts: a length word and a value for each of the columns of fixed width, and `change`. */
const HEAD_BYTES = 2 + 2 * (4 + 4) + (4 + 8) + (4 + 8) + 3 * (4 + 8) + (4 + 4) + (4 + 16) + (4 + 5)
/** A length word for each text, and the version of jsonb. */
const TEXT_LENGTH_BYTES = 8 * 4 + 1
const VERSION_1 = 1
const JSONB_VERSION = 1

/** What the server is sent at a time: each costs a message. */
const CHUNK_BYTES = 64 * 1024

/** Rows as they are sent to the server: bytes outside of the heap, which may be kept until they are written. */
export class CommentRows {
  readonly #at: Date
  readonly #full: Buffer[] = []
  #writer: Writer | null = null
  #fullBytes = 0

  /** @param at when the comments were first seen */
  constructor(at: Date) {
    this.#at = at
  }

  /** Bytes of all rows. */
  get bytes(): number {
    return this.#fullBytes + (this.#writer?.length ?? 0)
  }

  /** Some rows in each; nothing may be added any more. */
  get chunks(): readonly Buffer[] {
    return this.#writer === null ? [] : [...this.#full, this.#writer.written]
  }

  add({ comments, ...keys }: AnnotationComments): void {
    for (const comment of comments)
      encodeRow(this.#writerOf(sizeMax(comment)), keys, comment, this.#at.getTime())
  }

  #writerOf(bytesMax: number): Writer {
    if (this.#writer !== null) {
      if (bytesMax <= this.#writer.room) return this.#writer
      this.#full.push(this.#writer.written)
      this.#fullBytes += this.#writer.length
    }
    this.#writer = new Writer(Buffer.allocUnsafe(Math.max(bytesMax, CHUNK_BYTES)))
    return this.#writer
  }
}

/** Comments that are encoded at a time: a large answer must not be in memory once more as rows. */
const COMMENTS_AT_A_TIME = 1000

/** Rows made while they are sent. */
export function* encodeRows(
  annotations: Iterable<AnnotationComments>,
  at: Date,
): Generator<Buffer> {
  let rows = new CommentRows(at)
  for (const { comments, ...keys } of annotations) {
    for (let start = 0; start < comments.length; start += COMMENTS_AT_A_TIME) {
      rows.add({ ...keys, comments: comments.slice(start, start + COMMENTS_AT_A_TIME) })
      if (rows.bytes < CHUNK_BYTES) continue
      yield* rows.chunks
      rows = new CommentRows(at)
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

function encodeRow(
  writer: Writer,
  keys: Omit<AnnotationComments, 'comments'>,
  comment: CommentColumns,
  atMs: number,
): void {
  writer.int16(COLUMNS)
  writer.int4(keys.organizationKey)
  writer.int4(keys.annotationKey)
  writer.int8(comment.commentId)
  if (comment.lastUpdated === null) writer.nothing()
  else writer.time(Date.parse(comment.lastUpdated))
  writer.time(atMs)
  writer.time(atMs)
  writer.time(atMs)
  writer.int4(VERSION_1)
  writer.bytes(comment.digest)
  writer.text('added')
  writer.text(comment.status)
  writer.text(comment.type)
  writer.text(comment.authorUserId)
  writer.text(comment.authorName)
  writer.text(comment.authorEmail)
  writer.text(comment.commentText)
  writer.text(comment.commentHtml)
  writer.jsonb(comment.rest)
}

/** UTF-8 needs at most three bytes for each UTF-16 unit. */
function sizeMax(comment: CommentColumns): number {
  const units =
    length(comment.status) +
    length(comment.type) +
    length(comment.authorUserId) +
    length(comment.authorName) +
    length(comment.authorEmail) +
    length(comment.commentText) +
    length(comment.commentHtml) +
    length(comment.rest)
  return HEAD_BYTES + TEXT_LENGTH_BYTES + 3 * units
}

function length(text: string | null): number {
  return text === null ? 0 : text.length
}

const TWO_TO_32 = 2 ** 32

class Writer {
  readonly #buffer: Buffer
  #at = 0

  constructor(buffer: Buffer) {
    this.#buffer = buffer
  }

  get length(): number {
    return this.#at
  }

  get room(): number {
    return this.#buffer.length - this.#at
  }

  int16(value: number): void {
    this.#at = this.#buffer.writeInt16BE(value, this.#at)
  }

  nothing(): void {
    this.#at = this.#buffer.writeInt32BE(-1, this.#at)
  }

  int4(value: number): void {
    this.#at = this.#buffer.writeInt32BE(4, this.#at)
    this.#at = this.#buffer.writeInt32BE(value, this.#at)
  }

  /** By two halves: a BigInt for each number would be half of what a row costs. @param value a safe integer */
  int8(value: number): void {
    this.#at = this.#buffer.writeInt32BE(8, this.#at)
    const high = Math.floor(value / TWO_TO_32)
    this.#at = this.#buffer.writeInt32BE(high, this.#at)
    this.#at = this.#buffer.writeUInt32BE(value - high * TWO_TO_32, this.#at)
  }

  /** Microseconds of the years 1 to 9999 are beyond 2^53, milliseconds are not. */
  time(ms: number): void {
    const since = ms - EPOCH_2000_MS
    if (Number.isSafeInteger(since * 1000)) return this.int8(since * 1000)
    this.#at = this.#buffer.writeInt32BE(8, this.#at)
    this.#at = this.#buffer.writeBigInt64BE(BigInt(since) * 1000n, this.#at)
  }

  bytes(value: Buffer): void {
    this.#at = this.#buffer.writeInt32BE(value.length, this.#at)
    this.#at += value.copy(this.#buffer, this.#at)
  }

  text(value: string | null): void {
    if (value === null) return this.nothing()
    const written = this.#buffer.write(value, this.#at + 4, 'utf8')
    this.#buffer.writeInt32BE(written, this.#at)
    this.#at += 4 + written
  }

  jsonb(value: string | null): void {
    if (value === null) return this.nothing()
    const written = this.#buffer.write(value, this.#at + 5, 'utf8')
    this.#buffer.writeInt32BE(written + 1, this.#at)
    this.#buffer.writeInt8(JSONB_VERSION, this.#at + 4)
    this.#at += 5 + written
  }

  get written(): Buffer {
    return this.#buffer.subarray(0, this.#at)
  }
}
