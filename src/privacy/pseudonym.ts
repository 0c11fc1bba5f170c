import { createHmac } from 'node:crypto'

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
 * What `PRIVACY_EMAIL=hash` stores: equal for equal addresses, whatever their case, so that they can be joined and counted.
 * @param salt as in pseudonymOf
 */
export function hashEmail(salt: Buffer, email: string): string {
  return `hmac:${hashOf(salt, 'email', email.trim().toLowerCase())}`
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
