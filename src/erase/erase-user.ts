import {
  beginErasure,
  countMentions,
  emptyNotes,
  findErasure,
  findUsers,
  forgetAnswers,
  insertErasure,
  readIdentity,
  refreshStatistics,
  renameMember,
  updateUsers,
} from '../database/erase.ts'
import type { ErasePlace, ErasedCounts } from '../database/erase.ts'
import { transaction } from '../database/pool.ts'
import type { Client, Database } from '../database/pool.ts'
import { readSalt } from '../database/privacy.ts'
import { UsageError } from '../errors.ts'
import { erasedIn } from '../privacy/people.ts'
import { hashEmail, isHashedEmail, pseudonymOf } from '../privacy/pseudonym.ts'
import { eraseComments } from './erase-comments.ts'
import { eraseUserRecord } from './erase-record.ts'
import { needlesOf, waysInJson } from './needles.ts'
import type { Person } from './person.ts'

/** Whom to erase, and why. */
export interface ErasureRequest {
  readonly userId: string
  /** Null for all organizations, also those that come later. */
  readonly organizationId: string | null
  readonly reason: string
}

/** What an erasure did. */
export interface ErasureDone extends ErasedCounts {
  /** The row of `sync.erasures`. */
  readonly erasureId: number
  readonly erasedAt: Date
  /** What stands for the user id now. */
  readonly pseudonym: string
}

/**
 * Erases a person in one transaction: name, e-mail, words and further members are gone from current tables, history,
 * rejected records and messages, and a pseudonym stands wherever their id stood, so that rows and counts stay. From then on
 * what the service says of them is redacted before anything is compared or stored. The words of others stay, also where
 * they name the person: `mentionsLeft` counts them.
 * While it runs, workers wait with their commits; what they had in hand is asked for again.
 * @throws UsageError where nothing at all is known of such a user, or the organization is not in the catalog
 */
export async function eraseUser(database: Database, request: ErasureRequest): Promise<ErasureDone> {
  const done = await transaction(database, (client) => eraseIn(client, request))
  await refreshStatistics(database)
  return done
}

async function eraseIn(client: Client, request: ErasureRequest): Promise<ErasureDone> {
  const { userId, organizationId, reason } = request
  const place = await beginErasure(client, organizationId)
  if (place.organizationKeys.length === 0 && organizationId !== null) {
    throw new UsageError(
      `There is no organization ${JSON.stringify(organizationId)} in the catalog.`,
    )
  }
  const salt = await readSalt(client)
  const pseudonym = pseudonymOf(salt, userId)
  const { names, emails } = await readIdentity(client, place, userId)
  const emailHashes = emails.map((email) => (isHashedEmail(email) ? email : hashEmail(salt, email)))
  const erased = erasedIn(salt, [{ organizationId: null, pseudonym, emailHashes }], '')
  const redaction = { email: null, keepsUnknown: true, erased }
  const person = { userId, pseudonym, emails, idInJson: waysInJson(userId), redaction }
  const counts = await eraseEverywhere(client, place, person, [userId, ...names, ...emails])
  const found = Object.values(counts).some((count) => count > 0)
  if (!found) throw await notFound(client, pseudonym, request)
  const proof = await insertErasure(client, {
    organizationId,
    pseudonym,
    emailHashes: [...new Set(emailHashes)],
    reason,
    counts,
  })
  return { ...proof, pseudonym, ...counts }
}

async function eraseEverywhere(
  client: Client,
  place: ErasePlace,
  person: Person,
  texts: readonly string[],
): Promise<ErasedCounts> {
  const needles = needlesOf(texts)
  const users = await eraseUsers(client, place, person)
  const comments = await eraseComments(client, place, person)
  const memberships = await renameMember(client, place, person.userId, person.pseudonym)
  await forgetAnswers(client, place, comments.annotationKeys, person)
  return {
    users: users.own,
    comments: comments.own,
    commentVersions: comments.versions,
    memberships,
    mentionsInRecords: users.mentions + comments.mentions,
    ...(await emptyNotes(client, place, person, needles)),
    mentionsLeft: await countMentions(client, place, needles.plain),
  }
}

async function eraseUsers(
  client: Client,
  place: ErasePlace,
  person: Person,
): Promise<{ own: number; mentions: number }> {
  const users = await findUsers(client, place, person)
  const own = users.filter(({ userId }) => userId === person.userId).length
  await updateUsers(
    client,
    users.map((user) => eraseUserRecord(user, person.redaction)),
  )
  return { own, mentions: users.length - own }
}

async function notFound(
  client: Client,
  pseudonym: string,
  { userId, organizationId }: ErasureRequest,
): Promise<UsageError> {
  const erasedAt = await findErasure(client, pseudonym, organizationId)
  const who = `User ${JSON.stringify(userId)}`
  const where = organizationId === null ? '' : ` in organization ${JSON.stringify(organizationId)}`
  return new UsageError(
    erasedAt === null
      ? `${who} is nowhere in the tables${where}: nothing was erased. Is the id right?`
      : `${who} was erased already, on ${erasedAt.toISOString()}, and nothing came back since.`,
  )
}
