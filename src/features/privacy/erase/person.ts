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
 * A case-insensitive regular expression of PostgreSQL for every text that may contain the id or an address. It matches more
 * than that: redact.ts and redact-text.ts decide.
 */
function patternOf(userId: string | null, emails: readonly string[]): string {
  return [
    ...emails.map(encodedPattern),
    ...(emails.some(isHashedEmail) ? [ANY_ADDRESS] : []),
    ...(userId === null ? [] : [`(?:^|[^a-z0-9])${encodedPattern(userId)}(?:[^a-z0-9]|$)`]),
  ].join('|')
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

/** What identifies a person; `userId` is null for one without. */
export const IDENTITY = z.object({
  userId: z.string().nullable(),
  names: z.string().array().readonly(),
  emails: z.string().array().readonly(),
})
export type Identity = z.infer<typeof IDENTITY>

/** A person to erase, in a database with its salt. */
export type Person = ReturnType<typeof personOf>

export function personOf(salt: Buffer, { userId, names, emails }: Identity) {
  const pseudonym = pseudonymFor(salt, { userId, emails })
  const emailHashes = [...new Set(emails.map((email) => hashEmail(salt, email)))]
  const nameHashes = [...new Set(names.map((name) => hashName(salt, name)))]
  const erasure = { organizationId: null, pseudonym, emailHashes, nameHashes }
  // A name of one or two letters is part of half of all words.
  const longNames = names.filter((name) => name.length > 2)
  const redaction: Redaction = {
    email: null,
    keepsUnknown: true,
    erased: erasedIn(salt, [erasure], ''),
  }
  return {
    userId,
    pseudonym,
    emailHashes,
    nameHashes,
    /** What PostgreSQL finds rows by that may contain the person. */
    search: {
      userId,
      pseudonym,
      pattern: patternOf(userId, emails),
      emails: emails.map((email) => email.toLowerCase()),
      namesLike: longNames.map((name) => `%${name.replace(/[%_\\]/g, '\\$&')}%`),
      namesPattern: longNames.map((name) => `\\m${literal(name)}\\M`).join('|') || null,
    },
    /** Removes the person from stored records as the next syncs remove the person from responses. */
    redaction,
  }
}

/** The pseudonym of the user id, or of the address of a person without one. */
export function pseudonymFor(
  salt: Buffer,
  { userId, emails }: Pick<Identity, 'userId' | 'emails'>,
): string {
  return userId === null ? emailPseudonymOf(salt, emails[0] ?? '') : pseudonymOf(salt, userId)
}
