import { createHash, hash } from 'node:crypto'

/** Bytes of a digest: 128 bits of SHA-256, short enough to keep a million and far too long to meet twice. */
const DIGEST_BYTES = 16

/**
 * Raised when what a record's columns are made of changes: every stored digest then differs once, so that
 * the next run looks at every record again.
 */
const DIGEST_FORMAT = '1'

/** A digest of a text. */
export function digestOf(text: string): Buffer {
  return shorten(hash('sha256', DIGEST_FORMAT + text, 'buffer'))
}

/** Characters that are hashed at once: many in one go are cheap, all of a large answer would be in memory once more. */
const CHUNK_CHARACTERS = 100_000

/** One digest for many texts, in the order given; the same as `digestOf` of all of them joined. */
export function digestOfTexts(texts: Iterable<string>): Buffer {
  let chunk = ''
  let hashing: ReturnType<typeof createHash> | null = null
  for (const text of texts) {
    chunk += text
    if (chunk.length < CHUNK_CHARACTERS) continue
    hashing ??= createHash('sha256').update(DIGEST_FORMAT)
    hashing.update(chunk)
    chunk = ''
  }
  return hashing === null ? digestOf(chunk) : shorten(hashing.update(chunk).digest())
}

/** A text with its length before it; null is told from an empty one. */
export function lengthAndText(text: string | null): string {
  return text === null ? ' ~' : ` ${text.length}:${text}`
}

/** One digest for many, in the order given. */
export function digestOfDigests(digests: readonly Buffer[]): Buffer {
  return shorten(hash('sha256', Buffer.concat(digests), 'buffer'))
}

/** JSON with the keys of every object in order, so that equal content gives equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A copy, so that sixteen bytes do not keep a slab of eight thousand alive. */
function shorten(digest: Buffer): Buffer {
  return Buffer.from(digest.subarray(0, DIGEST_BYTES))
}
