import { countErased } from '../database/erase.ts'
import type { ErasePlace } from '../database/erase.ts'
import { findUsers, mergeUsers, readUsers, updateUsers } from '../database/erase-users.ts'
import type { UserKey } from '../database/erase-users.ts'
import { batchesOfMember, renameMember, renamePastMember } from '../database/erase.ts'
import { transaction } from '../database/pool.ts'
import type { Client, Database } from '../database/pool.ts'
import * as scopes from '../database/statements/scopes.ts'
import { eraseUserRecord } from './erase-record.ts'
import type { Person } from './person.ts'
import { piecesOf } from './pieces.ts'

/** Others' rows that are rewritten in one transaction. */
const USERS_A_PIECE = 200

/** Puts the pseudonym in the place of a member's id in every listing, batch after batch. */
export async function eraseMember(
  database: Database,
  place: ErasePlace,
  { userId, pseudonym }: Person,
  erasureId: number,
): Promise<void> {
  if (userId === null) return
  const count = async (client: Client, memberships: number) =>
    countErased(client, erasureId, { memberships })
  for (const batchKey of await batchesOfMember(database, place, userId)) {
    await transaction(database, async (client) => {
      await scopes.lockBatch.one(client, { batchKey })
      await count(client, await renameMember(client, batchKey, userId, pseudonym))
    })
  }
  await transaction(database, async (client) =>
    count(client, await renamePastMember(client, place, userId, pseudonym)),
  )
}

/** Empties the person's rows of users, and takes the person out of others'. */
export async function eraseUsers(
  database: Database,
  place: ErasePlace,
  person: Person,
  erasureId: number,
): Promise<void> {
  const found = await transaction(database, (client) => findUsers(client, place, person.search))
  // The person's own row changes its key: alone, so that nobody waits for it and for another one too.
  const own = found.filter(({ userId }) => userId === person.userId)
  const others = found.filter(({ userId }) => userId !== person.userId)
  for (const user of own) {
    await transaction(database, async (client) => {
      await mergeUsers(client, user, person.pseudonym)
      await rewriteUsers(client, user.organizationKey, [user], person)
      await countErased(client, erasureId, { users: 1 })
    })
  }
  for (const users of piecesOf(others, USERS_A_PIECE, (user) => user.organizationKey)) {
    await transaction(database, async (client) => {
      const { organizationKey } = users[0]
      const mentionsInRecords = await rewriteUsers(client, organizationKey, users, person)
      await countErased(client, erasureId, { mentionsInRecords })
    })
  }
}

async function rewriteUsers(
  client: Client,
  organizationKey: number,
  users: readonly UserKey[],
  { redaction }: Person,
): Promise<number> {
  const userIds = users.map(({ userId }) => userId)
  const stored = await readUsers(client, organizationKey, userIds)
  const erased = stored.flatMap((user) => eraseUserRecord(user, redaction) ?? [])
  await updateUsers(client, erased)
  return erased.length
}
