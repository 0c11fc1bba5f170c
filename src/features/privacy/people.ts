import { createHmac } from 'node:crypto'
import type { RowOf } from '../../core/database/statement.ts'
import type { erasures } from '../../core/database/statements/privacy.ts'
import { canonicalAddress } from './address.ts'

/** One erasure, as `sync.erasures` keeps it. */
export type Erasure = Omit<RowOf<typeof erasures>, 'erasureId'>

/** Recognizes erased people by what the service returns. */
export type ErasedPeople = NonNullable<ReturnType<typeof erasedIn>>

/** Size of the cache of hashes: hashing costs more than a lookup, and the same authors occur again and again. */
const CACHED_MAX = 20_000

/** @returns the people erased in one organization; null where there are none */
export function erasedIn(salt: Buffer, erasures: readonly Erasure[], organizationId: string) {
  const here = erasures.filter(
    (each) => each.organizationId === null || each.organizationId === organizationId,
  )
  if (here.length === 0) return null
  const users = new Set(here.map(({ pseudonym }) => pseudonym))
  const emails = new Set(
    here.flatMap((each) => each.emailHashes.map((hash) => emailPseudonymOf(salt, hash))),
  )
  const names = new Set(here.flatMap((each) => each.nameHashes))
  return {
    /** The pseudonym of an erased user id; null for anyone else. */
    pseudonymOf: knownHash(users, (text) => [pseudonymOf(salt, text)]),
    /** What stands for an erased address, as received or as hashEmail stored it; null for any other. */
    pseudonymOfEmail: knownHash(emails, (text) =>
      hashesOfEmail(salt, text).map((hash) => emailPseudonymOf(salt, hash)),
    ),
    /** Whether an erased person has this name. */
    hasName: (text: string) => names.size > 0 && names.has(hashName(salt, text)),
  }
}

/** The hash of a text if it is one of these, else null. */
function knownHash(hashes: ReadonlySet<string>, hashesOf: (text: string) => readonly string[]) {
  const cached = new Map<string, string | null>()
  return (text: string): string | null => {
    let known = cached.get(text)
    if (known === undefined) {
      if (cached.size >= CACHED_MAX) cached.clear()
      known = hashesOf(text).find((hash) => hashes.has(hash)) ?? null
      cached.set(text, known)
    }
    return known
  }
}

/** Half of a SHA-256: short enough for an id, far too long to meet twice. */
const HASH_HEX_DIGITS = 32

/**
 * What stands for the id of an erased person: always the same for one id in one database, and of no use without the salt.
 * @param salt the secret of the database (`sync.privacy`)
 */
export function pseudonymOf(salt: Buffer, userId: string): string {
  return `erased:${hashOf(salt, 'user', userId)}`
}

/**
 * What `PRIVACY_EMAIL=hash` stores: equal for all spellings of an address (canonicalAddress), so that they can be joined and
 * counted. A hash stays as it is.
 * @param salt as in pseudonymOf
 */
export function hashEmail(salt: Buffer, email: string): string {
  return isHashedEmail(email) ? email : `hmac:${hashOf(salt, 'email', canonicalAddress(email))}`
}

/** All hashes of an address that a database can contain: before 0.1.0, only the letter case was canonical. */
export function hashesOfEmail(salt: Buffer, email: string): readonly string[] {
  const hash = hashEmail(salt, email)
  const lower = email.replaceAll('\0', '').trim().toLowerCase()
  if (isHashedEmail(email) || lower === canonicalAddress(email)) return [hash]
  return [hash, `hmac:${hashOf(salt, 'email', lower)}`]
}

/** True for what hashEmail returns. */
export function isHashedEmail(text: string): boolean {
  return /^hmac:[0-9a-f]{32}$/.test(text)
}

/** Replaces an erased address: the digits of hashEmail. */
export function emailPseudonymOf(salt: Buffer, email: string): string {
  return hashEmail(salt, email).replace('hmac:', 'erased:')
}

/** A name's hash: of its words in order, in any letter case and punctuation. */
export function hashName(salt: Buffer, name: string): string {
  const text = name.normalize('NFC').toLowerCase()
  const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return `hmac:${hashOf(salt, 'name', words.join(' '))}`
}

function hashOf(salt: Buffer, kind: string, text: string): string {
  return createHmac('sha256', salt)
    .update(`${kind}:${text}`)
    .digest('hex')
    .slice(0, HASH_HEX_DIGITS)
}
