/** Bytes of a digest: 128 bits of SHA-256, short enough to keep a million and far too long to meet twice. */
const DIGEST_BYTES = 16

/**
 * The first bytes of a digest that is given as Latin-1, which is how Node hands it over cheapest. They lie in a buffer shared
 * with others: one of its own for each would burden the heap.
 */
export function shortDigest(digest: string): Buffer {
  return Buffer.from(digest.slice(0, DIGEST_BYTES), 'latin1')
}
