/**
 * Binary rows for `copy ... with (format binary)`: twice as fast as text parameters, and nothing to escape
 * (PostgreSQL documentation, COPY, "Binary Format"; times are microseconds since 2000-01-01).
 */

/** A new comment, in the columns of comments/copy.sql. */
export interface NewComment {
  readonly annotationKey: number
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

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const TRAILER = Buffer.from([0xff, 0xff])
const EPOCH_2000_MS = Date.UTC(2000, 0, 1)
const COLUMNS = 17
/** Fixed widths of a row with every length word, and two bytes more than needed for `change`. */
const FIXED_BYTES = 2 + COLUMNS * 4 + 4 + 8 + 4 * 8 + 4 + 16 + 8
const VERSION_1 = 1
const JSONB_VERSION = 1

/** Rows in one buffer: an answer of 50 MB must not be in memory once more as rows. */
const ROWS_A_CHUNK = 1000

/** Rows with header and trailer, ready to be written to the server, a chunk at a time. */
export function* encodeComments(comments: readonly NewComment[], at: Date): Generator<Buffer> {
  yield SIGNATURE
  for (let start = 0; start < comments.length; start += ROWS_A_CHUNK) {
    yield encodeRows(comments.slice(start, start + ROWS_A_CHUNK), at)
  }
  yield TRAILER
}

function encodeRows(comments: readonly NewComment[], at: Date): Buffer {
  const writer = new Writer(comments.reduce((bytes, comment) => bytes + sizeMax(comment), 0))
  const atMicros = micros(at.getTime())
  for (const comment of comments) {
    writer.int16(COLUMNS)
    writer.int4(comment.annotationKey)
    writer.int8(BigInt(comment.commentId))
    if (comment.lastUpdated === null) writer.nothing()
    else writer.int8(micros(Date.parse(comment.lastUpdated)))
    writer.int8(atMicros)
    writer.int8(atMicros)
    writer.int8(atMicros)
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
  return writer.written()
}

function micros(ms: number): bigint {
  return BigInt(ms - EPOCH_2000_MS) * 1000n
}

/** UTF-8 needs at most three bytes for each UTF-16 unit. */
function sizeMax(comment: NewComment): number {
  const units =
    length(comment.status) +
    length(comment.type) +
    length(comment.authorUserId) +
    length(comment.authorName) +
    length(comment.authorEmail) +
    length(comment.commentText) +
    length(comment.commentHtml) +
    length(comment.rest)
  return FIXED_BYTES + 3 * units
}

function length(text: string | null): number {
  return text === null ? 0 : text.length
}

class Writer {
  readonly #buffer: Buffer
  #at = 0

  constructor(bytes: number) {
    this.#buffer = Buffer.allocUnsafe(bytes)
  }

  raw(bytes: Buffer): void {
    this.#at += bytes.copy(this.#buffer, this.#at)
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

  int8(value: bigint): void {
    this.#at = this.#buffer.writeInt32BE(8, this.#at)
    this.#at = this.#buffer.writeBigInt64BE(value, this.#at)
  }

  bytes(value: Buffer): void {
    this.#at = this.#buffer.writeInt32BE(value.length, this.#at)
    this.raw(value)
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

  written(): Buffer {
    return this.#buffer.subarray(0, this.#at)
  }
}
