import { z } from 'zod'
import {
  emailPseudonymOf,
  erasedIn,
  hashEmail,
  hashName,
  isHashedEmail,
  pseudonymOf,
} from '../people.ts'
import type { Redaction } from '../redact.ts'

/** Percent-encoding and escapes of JSON: jsonb escapes some characters, and a rejected record is stored as it was received. */
const ENCODED = '[%\\\\][%\\\\a-z0-9]*'
/** Any address, where only the hash of one is known. */
const ANY_ADDRESS = '@|%40|\\\\u0040'

/**
 * A regular expression of PostgreSQL, whatever the case, for every text in which an id or an address may stand. It finds more
 * than that: redact-text.ts and redact-members.ts decide.
 */
function patternOf(userId: string | null, emails: readonly string[]): string {
  return [
    ...emails.map(encodedPattern),
    ...(emails.some(isHashedEmail) ? [ANY_ADDRESS] : []),
    ...(userId === null ? [] : [`(?:^|[^a-z0-9])${encodedPattern(userId)}(?:[^a-z0-9]|$)`]),
  ].join('|')
}

/** A regular expression of PostgreSQL for words that hold a name as a whole; null where there is no name. */
function namesPattern(names: readonly string[]): string | null {
  return names.length === 0 ? null : names.map((name) => `\\m${literal(name)}\\M`).join('|')
}

/** For `like`: any text that holds it. */
function containing(text: string): string {
  return `%${text.replace(/[%_\\]/g, '\\$&')}%`
}

function encodedPattern(text: string): string {
  return [...text]
    .map((character) => {
      // PostgreSQL knows the case of ASCII alone where the database has the locale C.
      const either = new Set([character.toLowerCase(), character.toUpperCase()])
      return `(?:${[...either].map((each) => `\\\\*${literal(each)}`).join('|')}|${ENCODED})`
    })
    .join('')
}

function literal(text: string): string {
  return text.replace(/[^\p{L}\p{N}\s]/gu, '\\$&')
}

/** What tells a person; `userId` is null for one without. */
export const IDENTITY = z.object({
  userId: z.string().nullable(),
  names: z.string().array().readonly(),
  emails: z.string().array().readonly(),
})
export type Identity = z.infer<typeof IDENTITY>

/** What rows are found by that may speak of a person. */
export interface PersonSearch {
  readonly userId: string | null
  readonly pseudonym: string
  /** Of the id and the addresses, as a regular expression. */
  readonly pattern: string
  /** In lower case. */
  readonly emails: readonly string[]
  /** Names, as patterns of `like`, and all of them as a regular expression; null where there is none. */
  readonly namesLike: readonly string[]
  readonly namesPattern: string | null
}

/** A person on the way out. */
export interface Person {
  readonly userId: string | null
  readonly pseudonym: string
  readonly emailHashes: readonly string[]
  readonly nameHashes: readonly string[]
  /** What PostgreSQL finds the person by. */
  readonly search: PersonSearch
  /** Leaves the person out of what is stored, as the next syncs leave the person out of what is answered. */
  readonly redaction: Redaction
}

/** What a person is known by, in a database with its salt. */
export function personOf(salt: Buffer, { userId, names, emails }: Identity): Person {
  const pseudonym = standsFor(salt, { userId, emails })
  const hashOf = (email: string) => (isHashedEmail(email) ? email : hashEmail(salt, email))
  const emailHashes = [...new Set(emails.map(hashOf))]
  const nameHashes = [...new Set(names.map((name) => hashName(salt, name)))]
  const erasure = { organizationId: null, pseudonym, emailHashes, nameHashes }
  return {
    userId,
    pseudonym,
    emailHashes,
    nameHashes,
    search: {
      userId,
      pseudonym,
      pattern: patternOf(userId, emails),
      emails: emails.map((email) => email.toLowerCase()),
      namesLike: names.filter(isLong).map(containing),
      namesPattern: namesPattern(names.filter(isLong)),
    },
    redaction: { email: null, keepsUnknown: true, erased: erasedIn(salt, [erasure], '') },
  }
}

/** A name of one or two letters stands in half of all words. */
function isLong(name: string): boolean {
  return name.length > 2
}

/** What stands for the user id; for the address of a person without one. */
export function standsFor(
  salt: Buffer,
  { userId, emails }: Pick<Identity, 'userId' | 'emails'>,
): string {
  return userId === null ? emailPseudonymOf(salt, emails[0] ?? '') : pseudonymOf(salt, userId)
}
