import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { hashOf, RIGHTS, TOKEN_PREFIX } from './access-tokens.ts'
import type { AccessToken, Right } from './access-tokens.ts'
import type { Database } from '../../core/database/pool.ts'
import * as tokens from '../../core/database/statements/tokens.ts'
import { ProblemError } from '../problem.ts'

/** Whom a request comes from, and what that token allows. */
export type Access = Pick<AccessToken, 'tokenId' | 'name' | 'rights'>

/** The tokens that open something. */
export interface Tokens {
  /**
   * Null for a token that opens nothing. Hashes are compared in constant time, so that the time says nothing of a token.
   * @throws where it has the form of a token in PostgreSQL and PostgreSQL is away
   */
  find(given: string): Promise<Access | null>
  /** What a token that was found before allows by now; null once it is removed. @throws as `find` */
  current(tokenId: number): Promise<Access | null>
  /** Whether a bearer has the form of a JWT, which no token has here, so that it is no try to guess one. */
  isForeign(bearer: string): boolean
}

/** HTTP_TOKEN itself; those in PostgreSQL are counted from 1. */
const SETTING: Access = { tokenId: 0, name: 'HTTP_TOKEN', rights: 'admin' }
const FRESH_MS = 1_000
/** A signed or encrypted JSON Web Token: base64url of a JSON object, then two to four more parts. */
const JWT = /^eyJ[\w-]+(?:\.[\w-]*){2,4}$/

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
    isForeign: (bearer) => JWT.test(bearer) && !JWT.test(token),
    async find(given) {
      const hash = hashOf(given)
      if (timingSafeEqual(hash, expected)) return SETTING
      if (!given.startsWith(TOKEN_PREFIX)) return null
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

/** What a token opens. */
export interface Lock {
  readonly tokens: Tokens
  /**
   * Counts a failed try of the address that a request comes from.
   * @throws ProblemError 429 after too many
   */
  countFailure(request: FastifyRequest): Promise<void>
}

const MINUTE_MS = 60_000

/** Limits the failed tries of one address (of IPv6, of one /64 network), and of all addresses together. */
export function limitFailures(app: FastifyInstance): Lock['countFailure'] {
  const limits = [
    app.createRateLimit({ max: 10, timeWindow: MINUTE_MS }),
    app.createRateLimit({ max: 100, timeWindow: MINUTE_MS, keyGenerator: () => 'all' }),
  ]
  return async (request) => {
    for (const count of limits) {
      const counted = await count(request)
      if (!counted.isAllowed && counted.isExceeded)
        throw new ProblemError(429, 'Too many tries with a wrong token; wait and try again.', {
          headers: { 'retry-after': String(counted.ttlInSeconds) },
        })
    }
  }
}
