import { timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { hashOf, RIGHTS, TOKEN_PREFIX } from './access-tokens.ts'
import type { AccessToken, Right } from './access-tokens.ts'
import type { Database } from '../../core/database/pool.ts'
import * as tokens from '../../core/database/statements/tokens.ts'
import { ProblemError } from '../problem.ts'
import type { Sessions } from './sessions.ts'

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
  readonly sessions: Sessions
  readonly failedTries: FailedTries
}

/**
 * Looks whose token somebody shows; null for a wrong one, which is answered late. A right one is never kept waiting,
 * whatever others tried from the same address.
 * @param address whose try it is
 * @throws ProblemError 429 for a wrong one after too many
 */
export async function tryToken(lock: Lock, address: string, given: string): Promise<Access | null> {
  const access = await lock.tokens.find(given)
  if (access === null) await refuseTry(lock, address)
  return access
}

/**
 * Counts a failed try of an address, and resolves when it may be answered.
 * @throws ProblemError 429 after too many
 */
export async function refuseTry({ failedTries }: Lock, address: string): Promise<void> {
  const seconds = failedTries.secondsToWait(address)
  if (seconds > 0)
    throw new ProblemError(429, 'Too many tries with a wrong token; wait and try again.', {
      headers: { 'retry-after': String(seconds) },
    })
  await sleep(failedTries.fail(address))
}

/** How many tries with a wrong token may fail before further ones are refused. */
export interface TryLimits {
  /** Of one address in a row; one more becomes free every so many milliseconds. */
  readonly ofAddress: { readonly max: number; readonly refillMs: number }
  /** Of all addresses together. */
  readonly ofAll: { readonly max: number; readonly refillMs: number }
}

const LIMITS: TryLimits = {
  ofAddress: { max: 10, refillMs: 6_000 },
  ofAll: { max: 100, refillMs: 600 },
}

const ADDRESSES_MAX = 10_000
const FIRST_DELAY_MS = 25
const LONGEST_DELAY_MS = 1_000

/**
 * Slows down who guesses a token: each failed try of an address is answered later than the one before, and after some
 * they are refused until time has passed. Memory is bounded: the longest unseen are forgotten.
 */
export class FailedTries {
  readonly #limits: TryLimits
  readonly #ofAddress = new Map<string, Bucket>()
  readonly #ofAll: Bucket = { level: 0, atMs: 0 }

  constructor(limits: TryLimits = LIMITS) {
    this.#limits = limits
  }

  /** Seconds until a wrong token of this address is answered as such again; 0 where it is now. */
  secondsToWait(address: string, nowMs = Date.now()): number {
    const { ofAddress, ofAll } = this.#limits
    const bucket = this.#ofAddress.get(placeOf(address))
    const own = bucket === undefined ? 0 : msToWait(bucket, ofAddress, nowMs)
    return Math.ceil(Math.max(own, msToWait(this.#ofAll, ofAll, nowMs)) / 1000)
  }

  /** Counts a failed try. @returns milliseconds to wait before it is answered */
  fail(address: string, nowMs = Date.now()): number {
    const place = placeOf(address)
    const bucket = this.#ofAddress.get(place) ?? { level: 0, atMs: nowMs }
    add(bucket, this.#limits.ofAddress.refillMs, nowMs)
    add(this.#ofAll, this.#limits.ofAll.refillMs, nowMs)
    putBounded(this.#ofAddress, place, bucket)
    return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.floor(bucket.level - 1))
  }
}

/** Fills by one a failure, and runs empty with time. */
interface Bucket {
  level: number
  atMs: number
}

function add(bucket: Bucket, refillMs: number, nowMs: number): void {
  bucket.level = levelOf(bucket, refillMs, nowMs) + 1
  bucket.atMs = nowMs
}

function levelOf(bucket: Bucket, refillMs: number, nowMs: number): number {
  return Math.max(0, bucket.level - Math.max(0, nowMs - bucket.atMs) / refillMs)
}

function msToWait(bucket: Bucket, limit: TryLimits['ofAll'], nowMs: number): number {
  const over = levelOf(bucket, limit.refillMs, nowMs) - (limit.max - 1)
  return over <= 0 ? 0 : over * limit.refillMs
}

function putBounded<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  const oldest = map.keys().next()
  if (map.size > ADDRESSES_MAX && !oldest.done) map.delete(oldest.value)
}

/** Whoever has an IPv6 address has the 2^64 beside it too. */
function placeOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  return [...before, ...(tail === undefined ? [] : zeros), ...after].slice(0, 4).join(':')
}
