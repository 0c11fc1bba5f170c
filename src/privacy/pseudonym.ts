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

function hashOf(salt: Buffer, kind: string, text: string): string {
  return createHmac('sha256', salt)
    .update(`${kind}:${text}`)
    .digest('hex')
    .slice(0, HASH_HEX_DIGITS)
}
