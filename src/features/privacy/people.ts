import { createHmac } from 'node:crypto'

/** One erasure, as `sync.erasures` keeps it. */
export interface Erasure {
  /** Null for all organizations. */
  readonly organizationId: string | null
  readonly pseudonym: string
  readonly emailHashes: readonly string[]
  readonly nameHashes: readonly string[]
}

/** Tells erased people by what the service says of them. */
export interface ErasedPeople {
  /** The pseudonym of an erased user id; null for anyone else. */
  pseudonymOf(userId: string): string | null
  /** What stands for an erased address, as received or as hashEmail stored it; null for any other. */
  pseudonymOfEmail(email: string): string | null
  /** Whether it is a name of somebody erased; which of them has it is not known. */
  hasName(name: string): boolean
}

/** Texts that are remembered: hashing costs more than looking up, and authors come again and again. */
const REMEMBERED_MAX = 20_000

/** @returns the people erased in one organization; null where there are none */
export function erasedIn(
  salt: Buffer,
  erasures: readonly Erasure[],
  organizationId: string,
): ErasedPeople | null {
  const here = erasures.filter(
    (each) => each.organizationId === null || each.organizationId === organizationId,
  )
  if (here.length === 0) return null
  const users = new Set(here.map(({ pseudonym }) => pseudonym))
  const emails = new Set(
    here.flatMap((each) => each.emailHashes.map((hash) => emailPseudonymOf(salt, hash))),
  )
  const names = new Set(here.flatMap((each) => each.nameHashes))
  const known = (make: (text: string) => string, those: ReadonlySet<string>) =>
    remembering((text) => {
      const hash = make(text)
      return those.has(hash) ? hash : null
    })
  const name = known((text) => hashName(salt, text), names)
  return {
    pseudonymOf: known((text) => pseudonymOf(salt, text), users),
    pseudonymOfEmail: known((text) => emailPseudonymOf(salt, text), emails),
    hasName: (text) => names.size > 0 && name(text) !== null,
  }
}

function remembering(look: (text: string) => string | null): (text: string) => string | null {
  const remembered = new Map<string, string | null>()
  return (text) => {
    let known = remembered.get(text)
    if (known === undefined) {
      if (remembered.size >= REMEMBERED_MAX) remembered.clear()
      known = look(text)
      remembered.set(text, known)
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
 * What `PRIVACY_EMAIL=hash` stores: equal for equal addresses, whatever their case and NULs, so that they can be joined and counted.
 * @param salt as in pseudonymOf
 */
export function hashEmail(salt: Buffer, email: string): string {
  return `hmac:${hashOf(salt, 'email', email.replaceAll('\0', '').trim().toLowerCase())}`
}

/** True for what hashEmail made. */
export function isHashedEmail(text: string): boolean {
  return /^hmac:[0-9a-f]{32}$/.test(text)
}

/** What stands for an erased address: the digits of hashEmail, also where that is what came. */
export function emailPseudonymOf(salt: Buffer, email: string): string {
  return (isHashedEmail(email) ? email : hashEmail(salt, email)).replace('hmac:', 'erased:')
}

/** A name's hash: its words in order, whatever their case and what stands between them. */
export function hashName(salt: Buffer, name: string): string {
  return `hmac:${hashOf(salt, 'name', wordsOf(name).join(' '))}`
}

/** The words of a name or a text, so that they can be compared. */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  )
}

function hashOf(salt: Buffer, kind: string, text: string): string {
  return createHmac('sha256', salt)
    .update(`${kind}:${text}`)
    .digest('hex')
    .slice(0, HASH_HEX_DIGITS)
}
