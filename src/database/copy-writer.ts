/** Times are microseconds since then. */
const EPOCH_2000_MS = Date.UTC(2000, 0, 1)
const EPOCH_2000_DAY = EPOCH_2000_MS / 86_400_000
const JSONB_VERSION = 1
const TWO_TO_32 = 2 ** 32

/** Values as a binary COPY takes them: each with its length before it (PostgreSQL documentation, COPY, "Binary Format"). */
export class CopyWriter {
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

  /** Drops what was written behind a former `length`. */
  rewind(length: number): void {
    this.#at = length
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

  /** A date, counted in days from 1970-01-01. */
  day(day: number): void {
    this.int4(day - EPOCH_2000_DAY)
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
