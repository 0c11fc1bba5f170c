import type { Client } from '../../database/pool.ts'
import type { ScopeKind } from '../../../base/operations.ts'
import type { RowOf } from '../../database/statement.ts'
import * as held from '../../database/statements/held.ts'
import * as users from '../../database/statements/users.ts'
import { readMembers } from '../../database/users.ts'
import type { MemberKind } from '../../database/users.ts'
import type { RecordsResult } from '../fetch/result.ts'

/** What a full listing means for its members. */
export interface ListingDecision {
  readonly result: RecordsResult<'users'>
  readonly changes: MemberChanges
  /** True if so many users are missing that a person must decide first. */
  readonly isLoss: boolean
  /** True for a loss, and if a missing user may still be a member. */
  readonly isSuspicious: boolean
}

/**
 * Compares full listings with their stored members; the batch is locked, so what it reads stays.
 * @param by.limit share of its members that a listing may lose, `SYNC_SHRINK_LIMIT`
 * @param by.at when the work was claimed: losses of the seven days before it count
 */
export async function decideListings(
  client: Client,
  results: readonly RecordsResult<'users'>[],
  by: { readonly limit: number; readonly at: Date },
): Promise<ListingDecision[]> {
  const listings = results.filter(({ isListing }) => isListing)
  // Members are stored even if the last response was held or had rejects; hasRows does not cover them.
  const stored = {
    document: await readListings(client, 'document', keysOf(listings, 'document')),
    group: await readListings(client, 'group', keysOf(listings, 'group')),
    organization: await readListings(client, 'organization', keysOf(listings, 'organization')),
  }
  const compared = listings.map((result) => {
    const { kind, key } = result.scope
    const members = stored[kind as keyof typeof stored].get(key) ?? new Map<string, boolean>()
    return { result, changes: compareMembers(members, result) }
  })
  const lacking = compared.filter(({ changes }) => changes.missing.length > 0)
  const losses = await lossesOf(client, lacking, by)
  return compared.map((listing) => {
    const isLoss = losses.has(listing)
    const mayBeThere = listing.result.mayLack && lacking.includes(listing)
    return { ...listing, isLoss, isSuspicious: isLoss || mayBeThere }
  })
}

function keysOf(results: readonly RecordsResult[], kind: ScopeKind): number[] {
  return results.flatMap(({ scope }) => (scope.kind === kind ? [scope.key] : []))
}

/** Reads listings of one kind: by key, by user ID, true for those who left. Those who left an organization are left out. */
export async function readListings(
  client: Client,
  kind: MemberKind | 'organization',
  keys: readonly number[],
): Promise<ReadonlyMap<number, ReadonlyMap<string, boolean>>> {
  if (kind !== 'organization') return readMembers(client, kind, keys)
  const found = new Map<number, ReadonlyMap<string, boolean>>()
  for (const organizationKey of keys) {
    const listed = await users.readListed.all(client, { organizationKey })
    found.set(organizationKey, new Map(listed.map(({ userId }) => [userId, false])))
  }
  return found
}

/** What a response changes in one listing of users. */
export interface MemberChanges {
  readonly joined: readonly string[]
  /** How many of those who joined had been members before. */
  readonly cameBack: number
  readonly missing: readonly string[]
  /** Members before the response. */
  readonly before: number
}

/** Compares a listing with its stored members. A user whose record was rejected counts neither as joined nor as missing. */
function compareMembers(
  stored: ReadonlyMap<string, boolean>,
  { records, rejectedIds }: RecordsResult<'users'>,
): MemberChanges {
  const received = new Set(records.map(({ userId }) => userId))
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

/** Those of listings that lost too many members. Nothing is read where none lacks a member, as in most commits. */
async function lossesOf(
  client: Client,
  lacking: readonly Compared[],
  { limit, at }: { readonly limit: number; readonly at: Date },
): Promise<ReadonlySet<Compared>> {
  const losses = new Set(lacking.filter(({ changes }) => isSuspiciousLoss(changes, limit)))
  const open = lacking.filter((listing) => !losses.has(listing))
  if (open.length === 0) return losses
  const results = open.map(({ result }) => result)
  const rows = await held.baseline.all(client, {
    organizationKeys: keysOf(results, 'organization'),
    documentKeys: keysOf(results, 'document'),
    groupKeys: keysOf(results, 'group'),
    at,
  })
  for (const listing of open) {
    const { scope } = listing.result
    const own = rows.find(({ kind, scopeKey }) => kind === scope.kind && scopeKey === scope.key)
    if (own && isSuspiciousSince(own, listing.changes, limit)) losses.add(listing)
  }
  return losses
}

/**
 * Whether one response lacks so many members that a person should decide first. The service has no operation that confirms
 * a removal, as it has for comments.
 * @param limit fraction of the members, `SYNC_SHRINK_LIMIT`
 */
function isSuspiciousLoss({ missing, before }: MemberChanges, limit: number): boolean {
  return (
    missing.length > 0 && (missing.length === before || isLargeLoss(missing.length, before, limit))
  )
}

/**
 * Whether a listing lost too many over several responses, or a loss that is held or refused would end without a decision.
 * Compares sizes: a listing in which users replace each other does not shrink.
 * @param baseline what the listing is compared with: see held/baseline.sql
 */
function isSuspiciousSince(
  { mostMembers, disputedUserIds }: RowOf<typeof held.baseline>,
  { missing, before, joined }: MemberChanges,
  limit: number,
): boolean {
  const lost = mostMembers - (before + joined.length - missing.length)
  const isMissing = new Set(missing)
  return isLargeLoss(lost, mostMembers, limit) || disputedUserIds.some((id) => isMissing.has(id))
}

/** Losing no more than this many is never suspicious, unless one response lacks all members. */
const SMALL_LOSS = 10

function isLargeLoss(lost: number, before: number, limit: number): boolean {
  return lost > SMALL_LOSS && lost > before * limit
}
