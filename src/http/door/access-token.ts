import { timingSafeEqual } from 'node:crypto'
import { RIGHTS, hashOf } from '../../database/access-tokens.ts'
import type { AccessToken, Right } from '../../database/access-tokens.ts'
import type { Database } from '../../database/pool.ts'
import * as tokens from '../../database/statements/tokens.ts'

/** Whom a request comes from, and what that token allows. */
export type Access = Pick<AccessToken, 'tokenId' | 'rights'>

/** The tokens that open something. */
export interface Tokens {
  /**
   * Null for a token that opens nothing. Hashes are compared in constant time, so that the time says nothing of a token.
   * @throws where it is not HTTP_TOKEN and PostgreSQL is away
   */
  find(given: string): Promise<Access | null>
  /** What a token that was found before allows by now; null once it is removed. @throws as `find` */
  current(tokenId: number): Promise<Access | null>
}

/** HTTP_TOKEN itself; those in PostgreSQL are counted from 1. */
const SETTING: Access = { tokenId: 0, rights: 'admin' }
const FRESH_MS = 1_000

/** @param token HTTP_TOKEN, which opens everything, also while PostgreSQL is away */
export function openTokens(token: string, database: Database): Tokens {
  const expected = hashOf(token)
  let stored: Promise<readonly AccessToken[]> | null = null
  let readAtMs = 0
  // All at once and once a second: however many wrong tokens are shown, PostgreSQL is not asked more often.
  const read = () => {
    if (stored === null || performance.now() - readAtMs >= FRESH_MS) {
      readAtMs = performance.now()
      stored = tokens.read.all(database)
    }
    return stored
  }
  return {
    async find(given) {
      const hash = hashOf(given)
      if (timingSafeEqual(hash, expected)) return SETTING
      return (await read()).find(({ tokenHash }) => timingSafeEqual(tokenHash, hash)) ?? null
    },
    async current(tokenId) {
      if (tokenId === SETTING.tokenId) return SETTING
      return (await read()).find((each) => each.tokenId === tokenId) ?? null
    },
  }
}

/** Whether rights cover what something needs. */
export function covers(rights: Right, needed: Right): boolean {
  return RIGHTS.indexOf(rights) >= RIGHTS.indexOf(needed)
}

/** The token of an `Authorization: Bearer` header; null where there is none (RFC 6750, 2.1). */
export function bearerOf(authorization: string | undefined): string | null {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null
}
