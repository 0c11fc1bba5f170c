import * as members from '../../database/statements/members.ts'
import { leaveMembers, unlistUsers } from '../../database/users.ts'
import type { MemberKind } from '../../database/users.ts'
import type { Listed, ListedRecords } from '../compare/listings.ts'

/** What is stored of listings of users. */
export const LISTED_USERS: ListedRecords = {
  async readStored(on, listings) {
    const stored = new Map(listings.map((of) => [placeOf(of), new Map<string, boolean>()]))
    const rows = await members.read.all(on, {
      documentKeys: keysOf(listings, 'document'),
      userGroupKeys: keysOf(listings, 'group'),
      organizationKeys: keysOf(listings, 'organization'),
    })
    for (const row of rows) stored.get(placeOf(row))?.set(row.userId, row.removed)
    return [...stored.values()]
  },
  async readMost(client, listings) {
    const rows = await members.most.all(client, {
      kinds: listings.map(({ kind }) => kind),
      scopeKeys: listings.map(({ key }) => key),
      since: listings.map(({ since }) => since.toISOString()),
    })
    return listings.map(
      (of) =>
        rows.find(({ kind, scopeKey }) => kind === of.kind && scopeKey === of.key)?.members ?? 0,
    )
  },
  remove(client, { kind, key }, userIds, at) {
    if (kind === 'organization') return unlistUsers(client, key, userIds, at)
    const memberships = userIds.map((userId) => ({ key, userId }))
    return leaveMembers(client, kind as MemberKind, memberships, at)
  },
}

function placeOf({ kind, key }: { readonly kind: string; readonly key: number }): string {
  return `${kind} ${key}`
}

function keysOf(listings: readonly Listed[], kind: Listed['kind']): number[] {
  return listings.flatMap((listing) => (listing.kind === kind ? [listing.key] : []))
}
