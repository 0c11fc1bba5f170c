import { emailPseudonymOf, hashName, pseudonymOf } from './pseudonym.ts'

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
