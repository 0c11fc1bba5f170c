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
  /** True where so many are missing that a person should look first. */
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
  const decisions = listings.map((result) => {
    const kind = result.scope.kind as keyof typeof members
    const stored = members[kind].get(result.scope.key) ?? new Map<string, boolean>()
    const received = new Set(result.records.map(({ userId }) => userId))
    const changes = compareMembers(stored, received, result.rejectedIds)
    const mayBeThere = result.mayLackUsers && changes.missing.length > 0
    const isSuspicious =
      result.incomplete === null && (mayBeThere || isSuspiciousLoss(changes, by.limit))
    return { result, changes, isSuspicious }
  })
  return withBaselines(client, decisions, by)
}

/** Judges those that lack members by what they held before. Nothing is read where no member is missing, as for most listings. */
async function withBaselines(
  client: Client,
  decisions: readonly ListingDecision[],
  { limit, at }: { readonly limit: number; readonly at: Date },
): Promise<ListingDecision[]> {
  const open = decisions.filter(
    ({ result, changes, isSuspicious }) =>
      !isSuspicious && result.incomplete === null && changes.missing.length > 0,
  )
  if (open.length === 0) return [...decisions]
  const keysOf = (kind: ScopeKind) =>
    open.filter(({ result }) => result.scope.kind === kind).map(({ result }) => result.scope.key)
  const rows = await held.baseline.all(client, {
    organizationKeys: keysOf('organization'),
    documentKeys: keysOf('document'),
    groupKeys: keysOf('group'),
    at,
  })
  const suspicious = new Set(
    open.filter(({ result: { scope }, changes }) => {
      const own = rows.find(({ kind, scopeKey }) => kind === scope.kind && scopeKey === scope.key)
      return own !== undefined && isSuspiciousSince(own, changes, limit)
    }),
  )
  return decisions.map((decision) => ({
    ...decision,
    isSuspicious: decision.isSuspicious || suspicious.has(decision),
  }))
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
