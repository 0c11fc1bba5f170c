import { hashEmail, isHashedEmail, pseudonymOf } from './pseudonym.ts'

/** One erasure, as `sync.erasures` keeps it. */
export interface Erasure {
  /** Null for all organizations. */
  readonly organizationId: string | null
  readonly pseudonym: string
  readonly emailHashes: readonly string[]
}

/** Tells erased people by what the service says of them. */
export interface ErasedPeople {
  /** The pseudonym of an erased user id; null for anyone else. */
  pseudonymOf(userId: string): string | null
  /** An address as received, or as hashEmail stored it. */
  hasEmail(email: string): boolean
}

/** Ids that are remembered: hashing costs more than looking up, and authors come again and again. */
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
  const pseudonyms = new Set(here.map(({ pseudonym }) => pseudonym))
  const emailHashes = new Set(here.flatMap((each) => each.emailHashes))
  const remembered = new Map<string, string | null>()
  return {
    pseudonymOf(userId) {
      let known = remembered.get(userId)
      if (known === undefined) {
        if (remembered.size >= REMEMBERED_MAX) remembered.clear()
        const pseudonym = pseudonymOf(salt, userId)
        known = pseudonyms.has(pseudonym) ? pseudonym : null
        remembered.set(userId, known)
      }
      return known
    },
    hasEmail: (email) =>
      emailHashes.size > 0 &&
      emailHashes.has(isHashedEmail(email) ? email : hashEmail(salt, email)),
  }
}
