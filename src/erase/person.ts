import { z } from 'zod'
import {
  emailPseudonymOf,
  erasedIn,
  hashEmail,
  hashName,
  isHashedEmail,
  pseudonymOf,
} from '../privacy/people.ts'
import type { Redaction } from '../privacy/redact.ts'
import { containing, namesPattern, patternOf } from './pattern.ts'

/** What tells a person; `userId` is null for one without. */
export const IDENTITY = z.object({
  userId: z.string().nullable(),
  names: z.string().array().readonly(),
  emails: z.string().array().readonly(),
})
export type Identity = z.infer<typeof IDENTITY>

/** What rows are found by that may speak of a person; pattern.ts makes the patterns. */
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
