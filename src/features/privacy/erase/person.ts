import { z } from 'zod'
import { spellingsOf } from '../address.ts'
import {
  emailPseudonymOf,
  erasedIn,
  hashEmail,
  hashesOfEmail,
  hashName,
  isHashedEmail,
  pseudonymOf,
} from '../people.ts'
import type { Redaction } from '../redact.ts'

/** Percent-encoding and escapes of JSON: jsonb escapes some characters, and a rejected record is stored as it was received. */
const ENCODED = '[%\\\\][%\\\\a-z0-9]*'
/** What every address has. */
const AT = '@|%40|\\\\u0040|＠|﹫'
/** Characters of an address that is spelled in another way, and tags within it. */
const ODD = '[^\\u0001-\\u007f]|[<>%\\\\]|xn--'
/** Within one word. */
const NEAR = '[^[:space:]",]*'

/**
 * Case-insensitive regular expressions of PostgreSQL for every text that may contain the id or an address. They match more than
 * that: redact.ts and redact-text.ts decide (docs/decisions/2026-11-27-erasure-rule.md).
 */
function patternsOf(userId: string | null, emails: readonly string[]): string[] {
  const plain = [
    ...emails.map(encodedPattern),
    ...(userId === null ? [] : [`(?:^|[^a-z0-9])${encodedPattern(userId)}(?:[^a-z0-9]|$)`]),
  ]
  if (emails.length === 0) return plain
  // Of a hash, any address can be the one.
  return [
    ...plain,
    emails.some(isHashedEmail) ? AT : `(?:${ODD})${NEAR}(?:${AT})|(?:${AT})${NEAR}(?:${ODD})`,
  ]
}

function encodedPattern(text: string): string {
  return [...text]
    .map((character) => {
      // PostgreSQL knows the case of ASCII alone where the database has the locale C.
      const either = new Set([character, character.toLowerCase(), character.toUpperCase()])
      return `(?:${[...either].map((each) => `\\\\*${literal(each)}`).join('|')}|${ENCODED})`
    })
    .join('')
}

function literal(text: string): string {
  return text.replace(/[^\p{L}\p{N}\s]/gu, '\\$&')
}

/** How columns of addresses can contain an address, in lower case. */
export function storedFormsOf(salt: Buffer, email: string): string[] {
  return [...spellingsOf(email), ...hashesOfEmail(salt, email)]
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
      patterns: patternsOf(userId, emails),
      emails: emails.flatMap((email) => storedFormsOf(salt, email)),
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
