import { createHash, timingSafeEqual } from 'node:crypto'

/**
 * Compares what somebody shows with the token. Digests have one length, and comparing them takes the same time wherever
 * they differ, so that the time says nothing of the token.
 */
export function tokenCheck(token: string): (given: string) => boolean {
  const expected = digestOf(token)
  return (given) => timingSafeEqual(digestOf(given), expected)
}

/** The token of an `Authorization: Bearer` header; null where there is none (RFC 6750, 2.1). */
export function bearerOf(authorization: string | undefined): string | null {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
