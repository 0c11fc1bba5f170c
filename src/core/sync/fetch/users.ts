import type { UsersFilter } from '../../../base/operations.ts'
import type { Scope } from '../../../schemas/scope.ts'
import type { BatchScope, ScopeIds } from '../../database/scopes.ts'
import { chunkIds } from '../../service/filters.ts'
import { digestOfListing } from '../record/digest.ts'
import { Records } from '../record/records.ts'
import { USERS } from '../record/user.ts'
import { fetchListing, PART, unchanged } from './listing.ts'
import type { Fetching } from './listing.ts'
import type { FetchedResult } from './result.ts'

/** Fetches one listing of users (docs/SERVICE.md, Get Users, combinations 1, 2 and 5), or some of its users. */
export async function fetchUsers(
  fetching: Fetching,
  scope: BatchScope,
  { userIds }: Pick<Scope, 'userIds'>,
): Promise<FetchedResult> {
  if (userIds !== undefined) return fetchSomeUsers(fetching, scope, [...new Set(userIds)])
  const records = new Records(USERS, scope.organizationId, fetching)
  const listing = await fetchListing(fetching, scope, 'users', usersFilter(scope), records)
  if (listing === null) return unchanged(scope)
  const result = records.result()
  const contentDigest = digestOfListing(records.byId)
  const isSound = result.rejects.length === 0
  if (isSound && scope.contentDigest?.equals(contentDigest)) return unchanged(scope)
  return {
    ...RECORDS,
    scope,
    ...result,
    isListing: true,
    mayLack: listing.mayLack,
    bodyDigest: isSound ? listing.bodyDigest : null,
    // Kept even if the response cannot be trusted: it identifies a held response when the service repeats it.
    contentDigest,
  }
}

const RECORDS = { outcome: 'records', operation: 'users', gone: [], incomplete: null } as const

/** Fetches some users (docs/SERVICE.md, Get Users, combinations 3, 4 and 6). */
async function fetchSomeUsers(
  fetching: Fetching,
  scope: BatchScope,
  ids: readonly string[],
): Promise<FetchedResult> {
  const { collabApi, call, maxIds } = fetching
  const parts = []
  for (const userIds of chunkIds(ids, maxIds)) {
    const filter = { ...usersFilter(scope), userIds } as UsersFilter
    const response = await collabApi.get('users', filter, call)
    if (response.status !== 'data') continue
    const records = new Records(USERS, scope.organizationId, fetching)
    records.addAll(response)
    parts.push(records)
  }
  return {
    ...RECORDS,
    scope,
    // A user may be in several responses.
    records: [...new Map(parts.flatMap(({ byId }) => [...byId])).values()],
    texts: new Map(parts.flatMap(({ texts }) => [...(texts ?? [])])),
    rejects: parts.flatMap(({ rejects }) => rejects),
    rejectedItems: parts.reduce((sum, { rejectedItems }) => sum + rejectedItems, 0),
    mayLack: false,
    rejectedIds: new Set(),
    ...PART,
  }
}

/** The filter of a listing of users. */
export function usersFilter(scope: ScopeIds): UsersFilter {
  const { organizationId, documentId, organizationUserGroupId } = scope
  if (documentId !== null) return { organizationId, documentId }
  if (organizationUserGroupId !== null) {
    // One group a call: what several mean together is not known.
    return { organizationId, organizationUserGroupIds: [organizationUserGroupId] }
  }
  return { organizationId }
}
