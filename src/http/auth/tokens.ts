import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { hashOf, RIGHTS, TOKEN_PREFIX } from './access-tokens.ts'
import type { AccessToken, Right } from './access-tokens.ts'
import type { Database } from '../../core/database/pool.ts'
import * as tokens from '../../core/database/statements/tokens.ts'
import { ProblemError } from '../problem.ts'
import type { openSessions } from './sessions.ts'

export type Access = Pick<AccessToken, 'tokenId' | 'name' | 'rights'>

/** HTTP_TOKEN. The IDs in PostgreSQL start at 1. */
const SETTING: Access = { tokenId: 0, name: 'HTTP_TOKEN', rights: 'admin' }
const FRESH_MS = 1_000
const HOUR_MS = 3_600_000
/** A signed or encrypted JSON Web Token: base64url of a JSON object, then two to four more parts. */
const JWT = /^eyJ[\w-]+(?:\.[\w-]*){2,4}$/

/** @param token HTTP_TOKEN, which has all rights, also while PostgreSQL is unreachable */
export function openTokens(token: string, database: Database) {
  const expected = hashOf(token)
  let stored: Promise<readonly AccessToken[]> | null = null
  let readAtMs = 0
  // One read of all tokens a second, so that wrong tokens cause no further queries.
  const read = () => {
    if (stored === null || performance.now() - readAtMs >= FRESH_MS) {
      readAtMs = performance.now()
      stored = tokens.read.all(database)
    }
    return stored
  }
  /** The hour in which this process recorded the use of a token. */
  const noted = new Map<number, number>()
  const noteUse = (access: AccessToken | undefined): Access | null => {
    const hour = Math.floor(Date.now() / HOUR_MS)
    if (access !== undefined && noted.get(access.tokenId) !== hour) {
      noted.set(access.tokenId, hour)
      // A PostgreSQL that only reads refuses it.
      tokens.use.run(database, { tokenId: access.tokenId }).catch(() => {})
    }
    return access ?? null
  }
  return {
    /** Reads the tokens again for the next request, after one was added or removed here. */
    changed: () => void (stored = null),
    /** Whether a bearer is a JWT, which no token of `serve` is, so that it does not count as a failed attempt. */
    isForeign: (bearer: string) => JWT.test(bearer) && !JWT.test(token),
    /**
     * Null for an invalid token. Hashes are compared in constant time, so that the duration reveals nothing about a token.
     * @throws for a token that may be in PostgreSQL while PostgreSQL is unreachable
     */
    async find(given: string): Promise<Access | null> {
      const hash = hashOf(given)
      if (timingSafeEqual(hash, expected)) return SETTING
      if (!given.startsWith(TOKEN_PREFIX)) return null
      return noteUse((await read()).find(({ tokenHash }) => timingSafeEqual(tokenHash, hash)))
    },
    /** The access of a token that was found before; null if it was removed since. @throws as `find` */
    async current(tokenId: number): Promise<Access | null> {
      if (tokenId === SETTING.tokenId) return SETTING
      return noteUse((await read()).find((each) => each.tokenId === tokenId))
    },
  }
}

/** Whether rights include the needed right. */
export function covers(rights: Right, needed: Right): boolean {
  return RIGHTS.indexOf(rights) >= RIGHTS.indexOf(needed)
}

/** The token of an `Authorization: Bearer` header; null without one (RFC 6750, 2.1). */
export function bearerOf(authorization: string | undefined): string | null {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null
}

/** Checks tokens and sessions, and limits failed attempts. */
export interface Lock {
  readonly tokens: ReturnType<typeof openTokens>
  readonly sessions: ReturnType<typeof openSessions>
  /**
   * Counts a failed attempt for the address of the request.
   * @throws ProblemError 429 after too many
   */
  countFailure(request: FastifyRequest): Promise<void>
}

const MINUTE_MS = 60_000

/** Limits the failed attempts of one address (for IPv6 of one /64 network), and of all addresses together. */
export function limitFailures(app: FastifyInstance): Lock['countFailure'] {
  const limits = [
    app.createRateLimit({ max: 10, timeWindow: MINUTE_MS }),
    app.createRateLimit({ max: 100, timeWindow: MINUTE_MS, keyGenerator: () => 'all' }),
  ]
  return async (request) => {
    for (const count of limits) {
      const counted = await count(request)
      if (!counted.isAllowed && counted.isExceeded)
        throw new ProblemError(429, 'Too many attempts with a wrong token. Wait and try again.', {
          headers: { 'retry-after': String(counted.ttlInSeconds) },
        })
    }
  }
}
