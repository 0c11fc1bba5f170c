import type { Operation } from '../../../base/operations.ts'
import type { Client } from '../../database/pool.ts'
import type { BatchScope } from '../../database/scopes.ts'
import type { On } from '../../database/statement.ts'
import * as held from '../../database/statements/held.ts'
import type { RecordsResult } from '../fetch/result.ts'

/** Whose listing it is. */
export type Listed = Pick<BatchScope, 'kind' | 'key'>

/** What an operation stores of its listings. The arrays that it returns have the order of the listings. */
export interface ListedRecords {
  /** Reads the stored records of each listing by ID, true for those that left. Those that left may be left out. */
  readStored(on: On, listings: readonly Listed[]): Promise<readonly ReadonlyMap<string, boolean>[]>
  /** Reads the largest number of records that each listing has had since a time. */
  readMost(
    client: Client,
    listings: readonly (Listed & { readonly since: Date })[],
  ): Promise<readonly number[]>
  /** Takes records out of a listing. Records that it does not contain are skipped. */
  remove(client: Client, listing: Listed, ids: readonly string[], at: Date): Promise<unknown>
}

/** What a full listing means for its records. */
export interface ListingDecision<O extends Operation = Operation> {
  readonly result: RecordsResult<O>
  readonly changes: ListingChanges
  /** True if so many records are missing that a person must decide first. */
  readonly isLoss: boolean
  /** True for a loss, and if a missing record may still be there. */
  readonly isSuspicious: boolean
}

/** A full listing, and what leaves it. */
export interface DecidedListing<O extends Operation = Operation> extends ListingDecision<O> {
  /** Whether its removals wait for approval. */
  readonly isHeld: boolean
  /** IDs of the records to take out of it; none if they are held, or if a person refused this response before. */
  readonly leaving: readonly string[]
}

/**
 * Compares full listings with their stored records; the batch is locked, so what it reads stays.
 * @param of.idOf the ID of a record
 * @param by.limit share of its records that a listing may lose, `SYNC_SHRINK_LIMIT`
 * @param by.at when the work was claimed: losses of the seven days before it count
 */
export async function decideListings<O extends Operation>(
  client: Client,
  results: readonly RecordsResult<O>[],
  of: {
    readonly operation: O
    readonly listed: ListedRecords
    idOf(record: RecordsResult<O>['records'][number]): unknown
  },
  by: { readonly limit: number; readonly at: Date },
): Promise<ListingDecision<O>[]> {
  const listings = results.filter(({ isListing }) => isListing)
  // Records are stored even if the last response was held or had rejects; hasRows does not cover them.
  const stored = await of.listed.readStored(client, listings.map(placeOf))
  const compared = listings.map((result, index) => {
    const received = new Set(result.records.map((record) => of.idOf(record) as string))
    const rejectedIds = result.rejectedIds as ReadonlySet<string>
    return { result, changes: compareIds(stored[index] ?? new Map(), received, rejectedIds) }
  })
  const lacking = compared.filter(({ changes }) => changes.missing.length > 0)
  const losses = await lossesOf(client, lacking, of, by)
  return compared.map((listing) => {
    const isLoss = losses.has(listing)
    const mayBeThere = listing.result.mayLack && lacking.includes(listing)
    return { ...listing, isLoss, isSuspicious: isLoss || mayBeThere }
  })
}

function placeOf({ scope: { kind, key } }: RecordsResult): Listed {
  return { kind, key }
}

/** What a response changes in one listing. */
export interface ListingChanges {
  readonly joined: readonly string[]
  /** How many of those that joined had been in it before. */
  readonly cameBack: number
  readonly missing: readonly string[]
  /** Records before the response. */
  readonly before: number
}

/** Compares a listing with its stored records. A record that was rejected counts neither as joined nor as missing. */
function compareIds(
  stored: ReadonlyMap<string, boolean>,
  received: ReadonlySet<string>,
  rejectedIds: ReadonlySet<string>,
): ListingChanges {
  const joined = [...received].filter((id) => stored.get(id) !== false)
  const present = [...stored].filter(([, left]) => !left).map(([id]) => id)
  return {
    joined,
    cameBack: joined.filter((id) => stored.has(id)).length,
    missing: present.filter((id) => !received.has(id) && !rejectedIds.has(id)),
    before: present.length,
  }
}

type Compared = Pick<ListingDecision, 'result' | 'changes'>

/** Those of listings that lost too many records. Nothing is read if none lacks a record, as in most commits. */
async function lossesOf(
  client: Client,
  lacking: readonly Compared[],
  { operation, listed }: { readonly operation: Operation; readonly listed: ListedRecords },
  { limit, at }: { readonly limit: number; readonly at: Date },
): Promise<ReadonlySet<unknown>> {
  const losses = new Set(lacking.filter(({ changes }) => isSuspiciousLoss(changes, limit)))
  const open = lacking.filter((listing) => !losses.has(listing))
  if (open.length === 0) return losses
  const places = open.map(({ result }) => placeOf(result))
  const rows = await held.baseline.all(client, {
    operation,
    kinds: places.map(({ kind }) => kind),
    scopeKeys: places.map(({ key }) => key),
    at,
  })
  const baselines = places.map((place) => {
    const row = rows.find(({ kind, scopeKey }) => kind === place.kind && scopeKey === place.key)
    return { ...place, since: row?.since ?? at, disputedIds: row?.disputedIds ?? [] }
  })
  const most = await listed.readMost(client, baselines)
  for (const [index, listing] of open.entries()) {
    const baseline = { most: most[index] ?? 0, disputedIds: baselines[index]?.disputedIds ?? [] }
    if (isSuspiciousSince(baseline, listing.changes, limit)) losses.add(listing)
  }
  return losses
}

/**
 * Whether one response lacks so many records that a person should decide first. The service has no operation that confirms
 * a removal, as it has for comments.
 * @param limit fraction of the records, `SYNC_SHRINK_LIMIT`
 */
function isSuspiciousLoss({ missing, before }: ListingChanges, limit: number): boolean {
  return (
    missing.length > 0 && (missing.length === before || isLargeLoss(missing.length, before, limit))
  )
}

/**
 * Whether a listing lost too many over several responses, or a loss that is held or refused would end without a decision.
 * Compares sizes: a listing in which records replace each other does not shrink.
 * @param baseline the largest size since losses count together, and the records of held or refused losses
 */
function isSuspiciousSince(
  { most, disputedIds }: { readonly most: number; readonly disputedIds: readonly string[] },
  { missing, before, joined }: ListingChanges,
  limit: number,
): boolean {
  const lost = most - (before + joined.length - missing.length)
  const isMissing = new Set(missing)
  return isLargeLoss(lost, most, limit) || disputedIds.some((id) => isMissing.has(id))
}

/** Losing no more than this many is never suspicious, unless one response lacks all records. */
const SMALL_LOSS = 10

function isLargeLoss(lost: number, before: number, limit: number): boolean {
  return lost > SMALL_LOSS && lost > before * limit
}
