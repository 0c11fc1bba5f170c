import { arraysOf, USER_COLUMN_LIST } from '../../../base/columns.ts'
import { chunksOf, countErased, erasing, reading } from './rows.ts'
import type { ErasePlace } from './rows.ts'
import { lock } from '../../../core/database/locks.ts'
import type { Client, Database } from '../../../core/database/pool.ts'
import * as erase from '../../../core/database/statements/erase.ts'
import * as scopes from '../../../core/database/statements/scopes.ts'
import { eraseUserRecord } from './erase-record.ts'
import type { Person } from './person.ts'

/** Rows of other users that are rewritten in one transaction. */
const USERS_A_CHUNK = 200

/** Replaces the id by the pseudonym in every current listing, batch after batch. */
export async function eraseMember(
  database: Database,
  place: ErasePlace,
  { userId, pseudonym }: Person,
  erasureId: number,
): Promise<void> {
  if (userId === null) return
  const { organizationKeys } = place
  const batches = await reading(database, place, (client) =>
    erase.batchesOfMember.all(client, { organizationKeys, userId }),
  )
  for (const { batchKey } of batches) {
    await erasing(database, async (client) => {
      await scopes.lockBatch.one(client, { batchKey, runId: null })
      const member = { batchKey, userId, pseudonym }
      const ofDocuments = await erase.renameDocumentUsers.run(client, member)
      const ofGroups = await erase.renameUserGroupMembers.run(client, member)
      await erase.forgetListings.run(client, member)
      await countErased(client, erasureId, { memberships: ofDocuments + ofGroups })
    })
  }
}

/** Empties the person's rows of users, and removes the person from rows of other users. */
export async function eraseUsers(
  database: Database,
  place: ErasePlace,
  person: Person,
  erasureId: number,
): Promise<void> {
  const { organizationKeys } = place
  const { userId: personId, patterns } = person.search
  const found = await reading(database, place, (client) =>
    erase.findUsers.all(client, { organizationKeys, userId: personId, patterns }),
  )
  // The person's own row changes its key: alone, so that no other transaction waits for it and for another row too.
  const own = found.filter(({ userId }) => userId === personId)
  const others = found.filter(({ userId }) => userId !== personId)
  for (const { organizationKey, userId } of own) {
    await erasing(database, async (client) => {
      const own = { organizationKey, userId, pseudonym: person.pseudonym }
      // No other transaction adds users to the organization until this one ends.
      await lock(client, 'users', organizationKey)
      await erase.mergeUsers.run(client, own)
      await rewriteUsers(client, organizationKey, [userId], person)
      const userVersions = await erase.renameUserVersions.run(client, own)
      await countErased(client, erasureId, { users: 1, userVersions })
    })
  }
  for (const users of chunksOf(others, USERS_A_CHUNK, (user) => user.organizationKey)) {
    await erasing(database, async (client) => {
      const { organizationKey } = users[0]
      const userIds = users.map(({ userId }) => userId)
      const mentionsInRecords = await rewriteUsers(client, organizationKey, userIds, person)
      await countErased(client, erasureId, { mentionsInRecords })
    })
  }
}

async function rewriteUsers(
  client: Client,
  organizationKey: number,
  userIds: readonly string[],
  { redaction }: Person,
): Promise<number> {
  const stored = await erase.readUsers.all(client, { organizationKey, userIds })
  const erased = stored.flatMap((user) => eraseUserRecord(user, redaction) ?? [])
  if (erased.length === 0) return 0
  await erase.updateUsers.run(client, {
    organizationKeys: erased.map((user) => user.organizationKey),
    userIds: erased.map(({ userId }) => userId),
    newUserIds: erased.map(({ newUserId }) => newUserId),
    digests: erased.map(({ digest }) => digest),
    ...arraysOf(USER_COLUMN_LIST, erased),
  })
  return erased.length
}
