import { transaction } from '../../../core/database/pool.ts'
import type { Client, Database } from '../../../core/database/pool.ts'
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

/** A transaction for a statement that reads all data of a place. */
export function reading<T>(
  database: Database,
  { organizationId }: ErasePlace,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  return transaction(database, async (client) => {
    await erase.beginReading.run(client, { isOneOrganization: organizationId !== null })
    return work(client)
  })
}

/** A transaction whose changes are `erased` in the feed of changes. */
export function erasing<T>(database: Database, work: (client: Client) => Promise<T>): Promise<T> {
  return transaction(database, async (client) => {
    await erase.begin.run(client)
    return work(client)
  })
}

/** Makes claims discard every response that was requested before this call; waits for commits in progress. */
export async function supersedeClaims(
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

/** Characters that are rewritten in one transaction, except for a longer row: PostgreSQL and V8 limit the size of a value. */
const UNITS_MAX = 16_000_000

/**
 * Splits rows into chunks, one for each transaction: of one group, of at most `rowsMax` rows, and of UNITS_MAX characters.
 * @param rows ordered by group; `units` are the characters of a row
 */
export function chunksOf<T extends { readonly units: number }>(
  rows: readonly T[],
  rowsMax: number,
  groupOf: (row: T) => unknown = () => null,
): [T, ...T[]][] {
  const chunks: [T, ...T[]][] = []
  let units = 0
  for (const row of rows) {
    const last = chunks.at(-1)
    units += row.units
    const isFull = last === undefined || last.length === rowsMax || units > UNITS_MAX
    if (isFull || groupOf(last[0]) !== groupOf(row)) {
      chunks.push([row])
      units = row.units
    } else last.push(row)
  }
  return chunks
}
