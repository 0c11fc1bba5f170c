import { transaction } from '../../../core/database/pool.ts'
import type { Client, Database } from '../../../core/database/pool.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import * as erase from '../../../core/database/statements/erase.ts'

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
  userVersions: 0,
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

/** A transaction that rewrites what is stored: the feed of changes says of what. */
export function erasing<T>(database: Database, work: (client: Client) => Promise<T>): Promise<T> {
  return transaction(database, async (client) => {
    await erase.begin.run(client)
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

/** A table with columns that can hold text, and the statements for it. */
export type TextTable = RowOf<typeof erase.textColumns>

/** A row's place, and its columns that can hold text as JSON text, by their names. */
export interface TextRow {
  readonly tid: string
  readonly texts: string
}

/** A row that may speak of a person. */
export interface FoundText {
  readonly tid: string
  /** Characters of its texts. */
  readonly units: number
}

/** Rows that may speak of a person. @param organizationKeys null for all rows */
export async function findTexts(
  client: Client,
  { find }: TextTable,
  { userId, pattern }: { readonly userId: string | null; readonly pattern: string },
  organizationKeys: readonly number[] | null,
): Promise<FoundText[]> {
  return (await client.query<FoundText>(find, [pattern, organizationKeys, userId])).rows
}

/** Locks rows; those that moved meanwhile, or that somebody else has locked, are left out. */
export async function lockTexts(
  client: Client,
  { lock }: TextTable,
  tids: readonly string[],
): Promise<TextRow[]> {
  return (await client.query<TextRow>(lock, [tids])).rows
}

export async function rewriteTexts(
  client: Client,
  { rewrite }: TextTable,
  rows: readonly TextRow[],
): Promise<void> {
  if (rows.length === 0) return
  const items = rows.map(({ tid, texts }) => `{"tid":${JSON.stringify(tid)},"texts":${texts}}`)
  await client.query(rewrite, [`[${items.join()}]`])
}

/** Takes the planner's samples of values anew, so that none of the person is left in them. */
export async function refreshStatistics(on: Database): Promise<void> {
  for (const { statement } of await erase.analyze.all(on)) await on.query(statement)
}
