import {
  countErased,
  findErasure,
  findUnfinished,
  finishErasure,
  readIdentity,
  readPlace,
  registerErasure,
  supersedeAnswers,
  withdrawErasure,
} from '../database/erase.ts'
import type { ErasePlace, ErasureProof, Erasing, Identity } from '../database/erase.ts'
import { readTextTables, refreshStatistics } from '../database/erase-texts.ts'
import { transaction } from '../database/pool.ts'
import type { Database } from '../database/pool.ts'
import { readSalt } from '../database/privacy.ts'
import { UsageError } from '../errors.ts'
import { redactMessage } from '../privacy/redact-members.ts'
import { eraseComments } from './erase-comments.ts'
import { eraseTexts } from './erase-texts.ts'
import { eraseMember, eraseUsers } from './erase-users.ts'
import { personOf, standsFor } from './person.ts'
import type { Person } from './person.ts'

/** Whom to erase, and why: a user by the id, or a person without one by an e-mail address. */
export type ErasureRequest = ({ readonly userId: string } | { readonly email: string }) & {
  /** Null for all organizations, also those that come later. */
  readonly organizationId: string | null
  readonly reason: string
  /** Where the queue is kept, if in another PostgreSQL database. */
  readonly queueDatabase?: Database
}

/** What an erasure did. */
export interface ErasureDone extends ErasureProof {
  /** The row of `sync.erasures`. */
  readonly erasureId: number
  /** What stands for the user id, or the address, now. */
  readonly pseudonym: string
  /** True where it took up an erasure that was interrupted. */
  readonly isResumed: boolean
}

/**
 * Erases a person: name, e-mail addresses, words and further members are gone from current tables, history, rejected
 * records and messages, and a pseudonym stands wherever their id or address stood, so that rows and counts stay. It is
 * registered first: what is claimed from then on is redacted before anything is compared or stored, and answers in hand are
 * asked for again. Then what is stored is rewritten in small transactions, beside runs. Safe to repeat where it was
 * interrupted: it goes on. A name alone in the words of others stays: `mentionsLeft` counts them.
 * @throws UsageError where nothing at all is known of such a person, or the organization is not in the catalog
 */
export async function eraseUser(database: Database, request: ErasureRequest): Promise<ErasureDone> {
  const place = await readPlace(database, request.organizationId)
  if (place.organizationKeys.length === 0 && place.organizationId !== null) {
    throw new UsageError(
      `There is no organization ${JSON.stringify(place.organizationId)} in the catalog.`,
    )
  }
  const salt = await readSalt(database)
  const asked = askedFor(request)
  const pseudonym = standsFor(salt, asked)
  const unfinished = await findUnfinished(database, pseudonym, place.organizationId)
  const stored = await transaction(database, (client) => readIdentity(client, place, asked))
  const identity = joined(stored, unfinished?.identity)
  const person = personOf(salt, identity)
  const erasing = unfinished ?? (await register(database, request, person, identity))
  const mentionsLeft = await rewrite(database, place, person, erasing, request.queueDatabase)
  const { erasureId } = erasing
  if (await withdrawErasure(database, erasureId)) {
    const erasedAt = await findErasure(database, pseudonym, place.organizationId)
    throw notFound(request, erasedAt)
  }
  await refreshStatistics(database)
  const proof = await finishErasure(database, erasureId, mentionsLeft)
  return { erasureId, ...proof, pseudonym, isResumed: unfinished !== null }
}

function askedFor(request: ErasureRequest): Identity {
  if (!('email' in request)) {
    const { userId } = request
    // Many services use the address as the id.
    return { userId, names: [], emails: /^[^\s@]+@[^\s@]+$/.test(userId) ? [userId] : [] }
  }
  const email = request.email.trim()
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new UsageError(`${JSON.stringify(request.email)} is no e-mail address.`)
  }
  return { userId: null, names: [], emails: [email] }
}

function joined(stored: Identity, before: Identity | undefined): Identity {
  const { userId } = stored
  const names = [...new Set([...stored.names, ...(before?.names ?? [])])]
  const emails = [...new Set([...stored.emails, ...(before?.emails ?? [])])]
  return { userId, names, emails }
}

function register(
  database: Database,
  { organizationId, reason }: ErasureRequest,
  { pseudonym, emailHashes, nameHashes, redaction }: Person,
  identity: Identity,
): Promise<Erasing> {
  const told = redactMessage(reason, redaction)
  const erasure = { organizationId, pseudonym, emailHashes, nameHashes, reason: told, identity }
  return transaction(database, (client) => registerErasure(client, erasure))
}

/** @returns how many comments of others hold the person's name in their words */
async function rewrite(
  database: Database,
  place: ErasePlace,
  person: Person,
  erasing: Erasing,
  queueDatabase: Database | undefined,
): Promise<number> {
  const { erasureId } = erasing
  await supersedeAnswers(database, place.organizationId)
  await eraseMember(database, place, person, erasureId)
  await eraseUsers(database, place, person, erasureId)
  const mentionsLeft = await eraseComments(database, place, person, erasing)
  for (const table of await readTextTables(database)) {
    await eraseTexts(database, table, place, person, (client, counts) =>
      countErased(client, erasureId, counts),
    )
  }
  if (queueDatabase === undefined) return mentionsLeft
  for (const table of await readTextTables(queueDatabase)) {
    await eraseTexts(queueDatabase, table, place, person, async () => {})
  }
  await refreshStatistics(queueDatabase)
  return mentionsLeft
}

function notFound(request: ErasureRequest, erasedAt: Date | null): UsageError {
  const { organizationId } = request
  const who =
    'email' in request
      ? `The address ${JSON.stringify(request.email)}`
      : `User ${JSON.stringify(request.userId)}`
  const where = organizationId === null ? '' : ` in organization ${JSON.stringify(organizationId)}`
  return new UsageError(
    erasedAt === null
      ? `${who} is nowhere in the tables${where}: nothing was erased. Is it right?`
      : `${who} was erased already, on ${erasedAt.toISOString()}, and nothing came back since.`,
  )
}
