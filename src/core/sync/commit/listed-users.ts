import type { Client } from '../../database/pool.ts'
import * as members from '../../database/statements/members.ts'
import * as users from '../../database/statements/users.ts'
import { leaveMembers, readMembers, unlistUsers } from '../../database/users.ts'
import type { MemberKind } from '../../database/users.ts'
import type { Listed, ListedRecords } from '../compare/listings.ts'

/** What is stored of listings of users. Those who left an organization are left out. */
export const LISTED_USERS: ListedRecords = {
  async readStored(client, listings) {
    const stored = {
      document: await readMembers(client, 'document', keysOf(listings, 'document')),
      group: await readMembers(client, 'group', keysOf(listings, 'group')),
      organization: await readListed(client, keysOf(listings, 'organization')),
    }
    return listings.map(
      ({ kind, key }) => stored[kind as keyof typeof stored].get(key) ?? new Map(),
    )
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

function keysOf(listings: readonly Listed[], kind: Listed['kind']): number[] {
  return listings.flatMap((listing) => (listing.kind === kind ? [listing.key] : []))
}

async function readListed(
  client: Client,
  keys: readonly number[],
): Promise<ReadonlyMap<number, ReadonlyMap<string, boolean>>> {
  const found = new Map<number, ReadonlyMap<string, boolean>>()
  for (const organizationKey of keys) {
    const listed = await users.readListed.all(client, { organizationKey })
    found.set(organizationKey, new Map(listed.map(({ userId }) => [userId, false])))
  }
  return found
}
