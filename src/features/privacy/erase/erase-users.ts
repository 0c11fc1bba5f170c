import { arraysOf, USER_COLUMN_LIST } from '../../../base/columns.ts'
import { countErased, erasing, lookThrough, renameMember } from './rows.ts'
import type { ErasePlace } from './rows.ts'
import type { Client, Database } from '../../../core/database/pool.ts'
import * as erase from '../../../core/database/statements/erase.ts'
import * as scopes from '../../../core/database/statements/scopes.ts'
import * as userStatements from '../../../core/database/statements/users.ts'
import { eraseUserRecord, piecesOf } from './erase-record.ts'
import type { Person } from './person.ts'

/** Others' rows that are rewritten in one transaction. */
const USERS_A_PIECE = 200

/** Puts the pseudonym in the place of a member's id in every listing, batch after batch. */
export async function eraseMember(
  database: Database,
  { organizationKeys }: ErasePlace,
  { userId, pseudonym }: Person,
  erasureId: number,
): Promise<void> {
  if (userId === null) return
  const count = async (client: Client, memberships: number) =>
    countErased(client, erasureId, { memberships })
  const batches = await erase.batchesOfMember.all(database, { organizationKeys, userId })
  for (const { batchKey } of batches) {
    await erasing(database, async (client) => {
      await scopes.lockBatch.one(client, { batchKey, runId: null })
      await count(client, await renameMember(client, { batchKey, userId, pseudonym }))
    })
  }
  const member = { organizationKeys, userId, pseudonym }
  await erasing(database, async (client) =>
    count(client, await erase.renamePastMemberships.run(client, member)),
  )
}

/** Empties the person's rows of users, and takes the person out of others'. */
export async function eraseUsers(
  database: Database,
  { organizationKeys }: ErasePlace,
  person: Person,
  erasureId: number,
): Promise<void> {
  const { userId: personId, pattern } = person.search
  const found = await lookThrough(database, (client) =>
    erase.findUsers.all(client, { organizationKeys, userId: personId, pattern }),
  )
  // The person's own row changes its key: alone, so that nobody waits for it and for another one too.
  const own = found.filter(({ userId }) => userId === personId)
  const others = found.filter(({ userId }) => userId !== personId)
  for (const { organizationKey, userId } of own) {
    await erasing(database, async (client) => {
      const { pseudonym } = person
      // Until the end of the transaction nobody else adds users to the organization.
      await userStatements.lock.run(client, { organizationKey })
      await erase.mergeUsers.run(client, { organizationKey, userId, pseudonym })
      await rewriteUsers(client, organizationKey, [userId], person)
      const own = { organizationKey, userId, pseudonym }
      const userVersions = await erase.renameUserVersions.run(client, own)
      await countErased(client, erasureId, { users: 1, userVersions })
    })
  }
  for (const users of piecesOf(others, USERS_A_PIECE, (user) => user.organizationKey)) {
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
