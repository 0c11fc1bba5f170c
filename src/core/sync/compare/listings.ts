import type { Client } from '../../database/pool.ts'
import type { ScopeKind } from '../../database/scopes.ts'
import * as held from '../../database/statements/held.ts'
import * as users from '../../database/statements/users.ts'
import { readMembers } from '../../database/users.ts'
import type { MemberKind } from '../../database/users.ts'
import type { UsersResult } from '../fetch/result.ts'
import { compareMembers, isSuspiciousLoss, isSuspiciousSince } from './comments.ts'
import type { MemberChanges } from './comments.ts'

/** What a full listing means for its members. */
export interface ListingDecision {
  readonly result: UsersResult
  readonly changes: MemberChanges
  /** True where so many are missing that a person should decide first. */
  readonly isLoss: boolean
  /** True for a loss, and where users are missing who may be there. */
  readonly isSuspicious: boolean
}

/**
 * Compares full listings with their stored members; the batch is locked, so what it reads stays.
 * @param by.limit share of its members that a listing may lose, `SYNC_SHRINK_LIMIT`
 * @param by.at when the work was claimed: losses of the seven days before it count
 */
export async function decideListings(
  client: Client,
  results: readonly UsersResult[],
  by: { readonly limit: number; readonly at: Date },
): Promise<ListingDecision[]> {
  const listings = results.filter(({ isListing }) => isListing)
  const members = {
    document: await membersOf(client, 'document', listings),
    group: await membersOf(client, 'group', listings),
    organization: await listedOf(client, listings),
  }
  const compared = listings.map((result) => {
    const kind = result.scope.kind as keyof typeof members
    const stored = members[kind].get(result.scope.key) ?? new Map<string, boolean>()
    const received = new Set(result.records.map(({ userId }) => userId))
    return { result, changes: compareMembers(stored, received, result.rejectedIds) }
  })
  const lacking = compared.filter(
    ({ result, changes }) => result.incomplete === null && changes.missing.length > 0,
  )
  const losses = await lossesOf(client, lacking, by)
  return compared.map((listing) => {
    const isLoss = losses.has(listing)
    const mayBeThere = listing.result.mayLackUsers && lacking.includes(listing)
    return { ...listing, isLoss, isSuspicious: isLoss || mayBeThere }
  })
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
  const keysOf = (kind: ScopeKind) =>
    open.filter(({ result }) => result.scope.kind === kind).map(({ result }) => result.scope.key)
  const rows = await held.baseline.all(client, {
    organizationKeys: keysOf('organization'),
    documentKeys: keysOf('document'),
    groupKeys: keysOf('group'),
    at,
  })
  for (const listing of open) {
    const { scope } = listing.result
    const own = rows.find(({ kind, scopeKey }) => kind === scope.kind && scopeKey === scope.key)
    if (own && isSuspiciousSince(own, listing.changes, limit)) losses.add(listing)
  }
  return losses
}

async function membersOf(client: Client, kind: MemberKind, listings: readonly UsersResult[]) {
  const scopes = listings.map(({ scope }) => scope)
  // Members are stored even of a listing whose last answer was held or had rejects, and which hasRows does not speak of.
  const keys = scopes.filter((scope) => scope.kind === kind).map(({ key }) => key)
  return readMembers(client, kind, keys)
}

/** The organization's own listing, in the shape of the others. */
async function listedOf(client: Client, listings: readonly UsersResult[]) {
  const scope = listings.find((result) => result.scope.kind === 'organization')?.scope
  if (scope === undefined) return new Map<number, Map<string, boolean>>()
  const listed = await users.readListed.all(client, { organizationKey: scope.key })
  return new Map([[scope.key, new Map(listed.map(({ userId }) => [userId, false]))]])
}
