import { readStoredComments } from '../../database/comments.ts'
import type { Database } from '../../database/pool.ts'
import type { BatchScope } from '../../database/scopes.ts'
import type { Scope } from '../../../documents/scope.ts'
import { counted } from '../../../documents/format.ts'
import { CallError } from '../../../base/errors.ts'
import type { Operation } from '../../../base/operations.ts'
import { isObject } from '../../../base/json.ts'
import type { Call, CollabApi } from '../../service/client.ts'
import { chunkIds } from '../../service/filters.ts'
import type { CommentsFilter, UsersFilter } from '../../service/filters.ts'
import { COMMENTS } from '../record/comment.ts'
import type { CommentRecord } from '../record/comment.ts'
import { digestOfComments, digestOfUsers } from '../record/digest.ts'
import type { DataResponse } from '../record/received.ts'
import { Records } from '../record/records.ts'
import type { Reading } from '../record/records.ts'
import { USERS } from '../record/user.ts'
import type { Rules } from '../rules.ts'
import type { FetchedResult, CommentsResult } from './result.ts'

/** What fetching needs. */
export interface Fetching extends Reading {
  readonly rules: Rules
  readonly collabApi: CollabApi
  readonly database: Database
  /** Most ids in one filter of a call. */
  readonly maxIds: number
  /** Whether a commit waits for the result: its calls wait for no memory, since commits free it. */
  readonly isAwaited?: boolean
  /** The time, by which what a listing shows is dated; left out where the time of the claim holds. */
  readonly seenAt?: () => Date
  /** Signals and counters that all its calls share. */
  readonly call: Omit<Call, 'knownDigest'>
}

/**
 * Fetches one scope, all of it or what the run narrows it to. Its responses count as received until it ends; what the caller
 * keeps of them, it counts itself.
 * @param onFailedTry called after each try that failed
 * @throws CallError where there was no usable response
 */
export async function fetchScope(
  fetching: Fetching,
  operation: Operation,
  scope: BatchScope,
  { userIds, commentIds }: Pick<Scope, 'userIds' | 'commentIds'>,
  onFailedTry?: () => void,
): Promise<FetchedResult> {
  const memory = fetching.collabApi.memory.open(fetching.isAwaited ? 1 : 0)
  const own = { ...fetching, call: { ...fetching.call, memory, onFailedTry } }
  try {
    const result = await (operation === 'comments'
      ? fetchComments(own, scope, commentIds)
      : fetchUsers(own, scope, userIds))
    if ('incomplete' in result) redactFailure(fetching, scope, result.incomplete)
    return result
  } catch (error) {
    redactFailure(fetching, scope, error)
    throw error
  } finally {
    memory.resize(0)
  }
}

/** The service's error message is stored too, so erased people are left out of it. */
function redactFailure({ rules }: Fetching, { organizationId }: BatchScope, error: unknown): void {
  if (!(error instanceof CallError)) return
  const redact = rules.redact(organizationId)
  if (redact === null) return
  const { message, errorStatus } = error
  Object.assign(error, { message: redact.text(message), errorStatus: redact.text(errorStatus) })
}

type CommentRecords = Records<number, CommentRecord>

/**
 * Fetches the comments of one annotation (docs/SERVICE.md, Get Comments). Those that are stored and missing from the listing are
 * fetched by their ids: only a null in the place of a comment is evidence that it is gone. With `commentIds` just these are
 * fetched.
 */
async function fetchComments(
  fetching: Fetching,
  scope: BatchScope,
  commentIds?: readonly number[],
): Promise<FetchedResult> {
  const records: CommentRecords = new Records(COMMENTS, scope.organizationId, fetching)
  if (commentIds !== undefined) {
    const byIds = await fetchByIds(fetching, scope, [...new Set(commentIds)], records)
    return { outcome: 'comments', scope, ...records.result(), ...byIds, ...PART }
  }
  const listing = await fetchListing(fetching, scope, records)
  const seenAt = fetching.seenAt?.()
  if (listing === null) return unchanged(scope)
  const contentDigest = commentsDigest(scope, records)
  const isSound = records.rejects.length === 0
  if (isSound && scope.contentDigest?.equals(contentDigest)) return unchanged(scope)
  const missing = scope.hasRows ? await missingIds(fetching.database, scope, records) : []
  const byIds: ByIds =
    missing.length === 0
      ? { gone: [], incomplete: null }
      : await fetchByIds(fetching, scope, missing, records)
  // Digests are stored only where they stand for all that is stored.
  const isWhole = records.rejects.length === 0 && byIds.gone.length === missing.length
  return {
    outcome: 'comments',
    scope: seenAt === undefined ? scope : { ...scope, seenAt },
    ...records.result(),
    ...byIds,
    isListing: true,
    bodyDigest: isWhole ? listing.bodyDigest : null,
    contentDigest: isWhole ? contentDigest : null,
  }
}

/** Of a response that does not list all of its scope. */
const PART = { isListing: false, bodyDigest: null, contentDigest: null }

/**
 * Fetches a full listing and reads it. When this returns, nothing refers to the response any more: a long one takes memory.
 * @returns null where the response is the one that is stored
 */
async function fetchListing(
  { collabApi, call, rules }: Fetching,
  scope: BatchScope,
  records: Pick<Records<never, never>, 'addAll'>,
): Promise<{ readonly bodyDigest: Buffer; readonly isPage: boolean } | null> {
  const known = scope.bodyDigest && { knownDigest: rules.sealed(scope.bodyDigest) }
  const response = await (scope.kind === 'annotation'
    ? collabApi.getComments(commentsFilter(scope), { ...call, ...known })
    : collabApi.getUsers(usersFilter(scope), { ...call, ...known }))
  if (response.status === 'unchanged') return null
  records.addAll(response)
  return { bodyDigest: rules.sealed(response.digest), isPage: response.paged }
}

/** A digest of all comments of a listing, the same for any order. */
function commentsDigest({ hasRows }: BatchScope, { byId }: CommentRecords): Buffer {
  const inOrder = [...byId.values()].sort((a, b) => a.commentId - b.commentId)
  // Where nothing is stored yet every comment is new, and its own digest is needed as well.
  if (hasRows) return digestOfComments(inOrder)
  return digestOfComments(inOrder, (record, digest) => record.keepDigest(digest))
}

/** Live comments that are stored and not in the listing. */
async function missingIds(
  database: Database,
  scope: BatchScope,
  { byId, rejectedIds }: CommentRecords,
): Promise<number[]> {
  const stored = (await readStoredComments(database, [scope.key])).get(scope.key) ?? []
  return [...stored]
    .filter(([id, { deleted }]) => !deleted && !byId.has(id) && !rejectedIds.has(id))
    .map(([id]) => id)
    .sort((a, b) => a - b)
}

/** What responses to calls by ID show of deletions. */
type ByIds = Pick<CommentsResult, 'gone'> & { incomplete: CallError | null }

/** Fetches comments by their IDs. A failed or invalid response confirms no deletion: it is reported. */
async function fetchByIds(
  { collabApi, call, maxIds }: Fetching,
  scope: BatchScope,
  ids: readonly number[],
  records: CommentRecords,
): Promise<ByIds> {
  const gone: number[] = []
  let incomplete: CallError | null = null
  for (const commentIds of chunkIds(ids, maxIds)) {
    try {
      const response = await collabApi.getComments({ ...commentsFilter(scope), commentIds }, call)
      if (response.status === 'data') gone.push(...readByIds(response, commentIds, records))
    } catch (error) {
      if (!(error instanceof CallError) || error.concernsEveryCall) throw error
      incomplete = error
    }
  }
  return { gone, incomplete }
}

/**
 * Reads the items for IDs, by position (docs/SERVICE.md, Get Comments, rule 3).
 * @returns the IDs for which the service returned null
 * @throws CallError if positions do not match: a null may stand for any comment
 */
function readByIds(
  response: DataResponse,
  ids: readonly number[],
  records: CommentRecords,
): readonly number[] {
  const { data } = response
  const fitsId = (item: unknown, index: number) =>
    item === null || (isObject(item) && item['commentId'] === ids[index])
  if (data.length !== ids.length || !data.every(fitsId))
    throw new CallError(
      `For ${counted(ids.length, 'comment ID')} the service returned ${counted(data.length, 'item')} in another order or number. This confirms no deletion.`,
      { kind: 'refused', httpStatus: 200, errorStatus: 'answer_does_not_line_up' },
    )
  const received = records.open(response)
  for (; received.index < received.length; received.index++)
    if (received.raw !== null) records.add(received)
  return ids.filter((_, index) => data[index] === null)
}

/** Fetches one listing of users (docs/SERVICE.md, Get Users, combinations 1, 2 and 5), or some of its users. */
async function fetchUsers(
  fetching: Fetching,
  scope: BatchScope,
  userIds?: readonly string[],
): Promise<FetchedResult> {
  if (userIds !== undefined) return fetchSomeUsers(fetching, scope, [...new Set(userIds)])
  const records = new Records(USERS, scope.organizationId, fetching)
  const listing = await fetchListing(fetching, scope, records)
  if (listing === null) return unchanged(scope)
  const result = records.result()
  const contentDigest = digestOfUsers(result.records)
  const isSound = result.rejects.length === 0
  if (isSound && scope.contentDigest?.equals(contentDigest)) return unchanged(scope)
  return {
    outcome: 'users',
    scope,
    ...result,
    isListing: true,
    mayLackUsers: records.nameless > 0 || listing.isPage,
    rejectedIds: records.rejectedIds,
    bodyDigest: isSound ? listing.bodyDigest : null,
    // Kept even if the response cannot be trusted: it identifies a held response when the service repeats it.
    contentDigest,
    incomplete: null,
  }
}

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
    const response = await collabApi.getUsers(filter, call)
    if (response.status !== 'data') continue
    const records = new Records(USERS, scope.organizationId, fetching)
    records.addAll(response)
    parts.push(records)
  }
  return {
    outcome: 'users',
    scope,
    // A user may be in several responses.
    records: [...new Map(parts.flatMap(({ byId }) => [...byId])).values()],
    texts: new Map(parts.flatMap(({ texts }) => [...(texts ?? [])])),
    rejects: parts.flatMap(({ rejects }) => rejects),
    rejectedItems: parts.reduce((sum, { rejectedItems }) => sum + rejectedItems, 0),
    mayLackUsers: false,
    rejectedIds: new Set(),
    ...PART,
    incomplete: null,
  }
}

function unchanged(scope: BatchScope): FetchedResult {
  return { outcome: 'unchanged', scope, records: scope.recordCount }
}

function commentsFilter({ organizationId, documentId, annotationId }: BatchScope): CommentsFilter {
  return { organizationId, documentId: documentId ?? '', annotationId: annotationId ?? '' }
}

function usersFilter(scope: BatchScope): UsersFilter {
  const { organizationId, documentId, organizationUserGroupId } = scope
  if (documentId !== null) return { organizationId, documentId }
  if (organizationUserGroupId !== null) {
    // One group a call: what several mean together is not known.
    return { organizationId, organizationUserGroupIds: [organizationUserGroupId] }
  }
  return { organizationId }
}
