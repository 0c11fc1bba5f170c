import { transaction } from './pool.ts'
import type { Client, Database } from './pool.ts'
import * as erase from './statements/erase.ts'

/** Where a person is erased. */
export interface ErasePlace {
  /** Null for all organizations. */
  readonly organizationId: string | null
  readonly organizationKeys: readonly number[]
}

/** What an erasure emptied or replaced, in the columns of `sync.erasures`. */
const NOTHING = {
  users: 0,
  comments: 0,
  commentVersions: 0,
  memberships: 0,
  mentionsInRecords: 0,
  rejectedRecords: 0,
  messages: 0,
  held: 0,
  scopes: 0,
}
export type ErasedCounts = Readonly<typeof NOTHING>

/** A transaction whose statements may take long: for one look through everything. */
export function lookThrough<T>(
  database: Database,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  return transaction(database, async (client) => {
    await erase.noTimeLimits.run(client)
    return work(client)
  })
}

/** Has every answer thrown away that was asked for before this is called; waits for commits under way. */
export async function supersedeAnswers(
  database: Database,
  organizationId: string | null,
): Promise<void> {
  const { claimNo } = await erase.claimNumber.one(database)
  for (const waits of [false, true]) {
    let taken: number
    do {
      taken = await erase.claimBatches.run(database, { organizationId, claimNo, waits })
    } while (taken > 0)
  }
}

/** Puts the pseudonym in the place of the id in the listings of one batch. @returns how many rows changed */
export async function renameMember(
  client: Client,
  member: { batchKey: number; userId: string; pseudonym: string },
): Promise<number> {
  const ofDocuments = await erase.renameDocumentUsers.run(client, member)
  const ofGroups = await erase.renameUserGroupMembers.run(client, member)
  await erase.forgetListings.run(client, member)
  return ofDocuments + ofGroups
}

/** Adds to the counts of an erasure, in the transaction that did it. */
export async function countErased(
  client: Client,
  erasureId: number,
  counts: Partial<ErasedCounts>,
): Promise<void> {
  const all = { ...NOTHING, ...counts }
  if (Object.values(all).every((count) => count === 0)) return
  await erase.count.run(client, { erasureId, ...all })
}
