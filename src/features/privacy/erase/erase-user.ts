import { noteAction } from '../../../core/database/actions.ts'
import { countErased, reading, supersedeClaims } from './rows.ts'
import type { ErasePlace } from './rows.ts'
import { transaction } from '../../../core/database/pool.ts'
import type { Database } from '../../../core/database/pool.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import * as erase from '../../../core/database/statements/erase.ts'
import * as privacy from '../../../core/database/statements/privacy.ts'
import { UsageError } from '../../../base/errors.ts'
import { processUser } from '../../../base/process-user.ts'
import { canonicalAddress } from '../address.ts'
import { redactMessage, redactRow } from '../redact.ts'
import { eraseComments } from './erase-comments.ts'
import { eraseTexts } from './erase-texts.ts'
import { eraseMember, eraseUsers } from './erase-users.ts'
import { IDENTITY, personOf, pseudonymFor, storedFormsOf } from './person.ts'
import type { Identity, Person } from './person.ts'

/** The person to erase, and the reason: a user by the id, or a person without one by an e-mail address. */
export type ErasureRequest = ({ readonly userId: string } | { readonly email: string }) & {
  /** Null for all organizations, also those that come later. */
  readonly organizationId: string | null
  readonly reason: string
  /** Where the queue is kept, if in another PostgreSQL database. */
  readonly queueDatabase?: Database
}

type Erasing = RowOf<typeof erase.register>

/**
 * Erases a person: removes name, e-mail addresses, words and additional fields from current tables, history, rejected
 * records and messages. A pseudonym replaces the id and the addresses, so that rows and counts stay. The erasure is
 * registered first: later claims redact their responses before anything is compared or stored, and responses in progress are
 * fetched again. Then stored rows are rewritten in small transactions, beside runs. An interrupted erasure continues when it
 * is repeated. A name alone in comments of other users stays: `mentionsLeft` counts these comments.
 * @returns what it did, with its proof: `erasureId` is its row of `sync.erasures`, `pseudonym` replaces the user id or the
 *   address, `isResumed` is true if it continued an erasure that was interrupted
 * @throws UsageError if no row contains the person, or the organization is not in the catalog
 */
export async function eraseUser(database: Database, request: ErasureRequest) {
  const { organizationId } = request
  const organizations = await erase.organizations.all(database, { organizationId })
  const organizationKeys = organizations.map(({ organizationKey }) => organizationKey)
  if (organizationKeys.length === 0 && organizationId !== null) {
    throw new UsageError(
      `There is no organization ${JSON.stringify(organizationId)} in the catalog.`,
    )
  }
  const place = { organizationId, organizationKeys }
  const { salt } = await privacy.salt.one(database)
  const named = identityOf(request)
  const pseudonym = pseudonymFor(salt, named)
  const unfinished = await erase.unfinished.first(database, { pseudonym, organizationId })
  const { userId, emails } = named
  const stored = await reading(database, place, (client) =>
    erase.identity.one(client, {
      organizationKeys,
      userId,
      emails: emails.flatMap((email) => storedFormsOf(salt, email)),
    }),
  )
  const before = unfinished === undefined ? [] : [IDENTITY.parse(unfinished.identity)]
  const all = [named, stored, ...before]
  const identity = {
    userId,
    names: [...new Set(all.flatMap((each) => each.names))],
    emails: [...new Set(all.flatMap((each) => each.emails))],
  }
  const person = personOf(salt, identity)
  const erasing = unfinished ?? (await register(database, request, person, identity))
  const mentionsLeft = await rewrite(database, place, person, erasing, request.queueDatabase)
  const { erasureId } = erasing
  if ((await erase.withdraw.run(database, { erasureId })) > 0) {
    const where =
      organizationId === null ? '' : ` of organization ${JSON.stringify(organizationId)}`
    throw new UsageError(
      `No row${where} contains ${JSON.stringify(userId ?? emails[0])}, so nothing was erased. Check it, or look for an earlier erasure in sync.erasures.`,
    )
  }
  const proof = await transaction(database, async (client) => {
    const target = `erasure ${erasureId}`
    const actor = { by: processUser(), reason: request.reason }
    const { by, reason } = redactRow(actor, person.redaction) as typeof actor
    await noteAction(client, by, 'person_erased', { target, reason })
    return erase.finish.one(client, { erasureId, mentionsLeft })
  })
  return { erasureId, ...proof, pseudonym, isResumed: unfinished !== undefined }
}

function identityOf(request: ErasureRequest): Identity {
  if (!('email' in request)) {
    const { userId } = request
    // Many services use the address as the id.
    return { userId, names: [], emails: isAddress(userId) ? [userId] : [] }
  }
  const email = request.email.trim()
  if (!isAddress(email)) {
    throw new UsageError(`${JSON.stringify(request.email)} is not an e-mail address.`)
  }
  return { userId: null, names: [], emails: [email] }
}

function isAddress(text: string): boolean {
  return /^(?:"[^"]+"|[^\s@"]+)@[^\s@]+$/.test(canonicalAddress(text))
}

/** Claims that start after this commit redact their responses. */
function register(
  database: Database,
  { organizationId, reason }: ErasureRequest,
  { pseudonym, emailHashes, nameHashes, redaction }: Person,
  identity: Identity,
): Promise<Erasing> {
  return transaction(database, async (client) => {
    // Numbers of erasures are in the order of their commits, so that workers notice a new one.
    await erase.lock.run(client)
    return erase.register.one(client, {
      organizationId,
      pseudonym,
      emailHashes,
      nameHashes,
      reason: redactMessage(reason, redaction),
      lookedFor: JSON.stringify(identity),
    })
  })
}

/** @returns how many comments of other users contain the person's name */
async function rewrite(
  database: Database,
  place: ErasePlace,
  person: Person,
  erasing: Erasing,
  queueDatabase: Database | undefined,
): Promise<number> {
  const { erasureId } = erasing
  await supersedeClaims(database, place.organizationId)
  await eraseMember(database, place, person, erasureId)
  await eraseUsers(database, place, person, erasureId)
  const mentionsLeft = await eraseComments(database, place, person, erasing)
  for (const on of queueDatabase === undefined ? [database] : [database, queueDatabase]) {
    const isOneOrganization = place.organizationId !== null
    for (const table of await erase.textColumns.all(on, { isOneOrganization })) {
      await eraseTexts(on, table, place, person, async (client, counts) => {
        if (on === database) await countErased(client, erasureId, counts)
      })
    }
    // The planner's statistics contain samples of values.
    for (const { statement } of await erase.analyze.all(on)) await on.query(statement)
  }
  return mentionsLeft
}
