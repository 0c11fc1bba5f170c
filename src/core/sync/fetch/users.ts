import type { BatchScope } from '../../database/scopes.ts'
import type { Answer } from '../../service/answer.ts'
import { chunkIds } from '../../service/filters.ts'
import type { UsersFilter } from '../../service/filters.ts'
import { digestOfDigests } from '../record/digest.ts'
import { receivedOf } from '../record/received.ts'
import type { Reject } from '../record/received.ts'
import { readUsers } from '../record/user.ts'
import type { UserRecord } from '../record/user.ts'
import type { Asking } from './comments.ts'
import type { AskedResult } from './result.ts'

/**
 * Asks for one listing of users (service-api.md, Get Users, combinations 1, 2 and 5), or with `userIds` for
 * some users only (combinations 3, 4 and 6).
 * @throws CallError where there was no usable answer
 */
export async function askUsers(
  asking: Asking,
  scope: BatchScope,
  userIds: readonly string[] | null,
): Promise<AskedResult> {
  const { rules } = asking
  if (userIds !== null) return askSomeUsers(asking, scope, userIds)
  const answer = await asking.collabApi.getUsers(filterOf(scope), {
    ...asking.call,
    ...(scope.bodyDigest === null ? {} : { knownDigest: rules.sealed(scope.bodyDigest) }),
  })
  const unchanged: AskedResult = { outcome: 'unchanged', scope, records: scope.recordCount }
  if (answer.status === 'unchanged') return unchanged
  const { nameless, ...listing } = usersIn(answer, asking, scope)
  const contentDigest = contentDigestOf(listing.records)
  const isClean = listing.rejects.length === 0
  if (isClean && scope.contentDigest?.equals(contentDigest)) return unchanged
  return {
    outcome: 'users',
    scope,
    ...listing,
    // Whatever was received and is no record of its own was rejected as a whole.
    rejectedItems: answer.data.length - listing.records.length,
    isListing: true,
    mayLackUsers: nameless > 0 || answer.paged,
    bodyDigest: isClean ? rules.sealed(answer.digest) : null,
    // Kept even where the answer is not to be trusted: it tells a held answer that comes again.
    contentDigest,
    incomplete: null,
  }
}

async function askSomeUsers(
  asking: Asking,
  scope: BatchScope,
  userIds: readonly string[],
): Promise<AskedResult> {
  const records = new Map<string, UserRecord>()
  const texts = new Map<string, string>()
  const rejects: Reject[] = []
  let rejectedItems = 0
  for (const chunk of chunkIds(userIds, asking.maxIds)) {
    const answer: Answer = await asking.collabApi.getUsers(
      { ...filterOf(scope), userIds: chunk } as UsersFilter,
      asking.call,
    )
    if (answer.status !== 'data') continue
    const listing = usersIn(answer, asking, scope)
    rejectedItems += answer.data.length - listing.records.length
    rejects.push(...listing.rejects)
    for (const record of listing.records) records.set(record.userId, record)
    for (const [userId, text] of listing.texts) texts.set(userId, text)
  }
  return {
    outcome: 'users',
    scope,
    records: [...records.values()],
    mayLackUsers: false,
    rejectedIds: new Set(),
    texts,
    rejects,
    rejectedItems,
    isListing: false,
    bodyDigest: null,
    contentDigest: null,
    incomplete: null,
  }
}

function usersIn(
  answer: Extract<Answer, { status: 'data' }>,
  { observed, keepsTexts, rules }: Asking,
  { organizationId }: BatchScope,
) {
  const onRead = observed === undefined ? null : (item: unknown) => observed.see('user', item)
  return readUsers(receivedOf(answer, rules.redact(organizationId)?.users, onRead), keepsTexts)
}

/** The same for any order of the records. Sorted by UTF-16: it need not be PostgreSQL's order, since digests are only made here. */
function contentDigestOf(records: readonly UserRecord[]): Buffer {
  const inOrder = [...records].sort((a, b) => (a.userId < b.userId ? -1 : 1))
  return digestOfDigests(inOrder.map(({ digest }) => digest))
}

function filterOf(scope: BatchScope): UsersFilter {
  const { organizationId, documentId, organizationUserGroupId } = scope
  if (documentId !== null) return { organizationId, documentId }
  if (organizationUserGroupId !== null) {
    // One group a call: what several mean together is "not shown".
    return { organizationId, organizationUserGroupIds: [organizationUserGroupId] }
  }
  return { organizationId }
}
