import type { CommentsFilter } from '../../../base/operations.ts'
import { CallError } from '../../../base/errors.ts'
import { isObject } from '../../../base/json.ts'
import { counted } from '../../../schemas/format.ts'
import type { Scope } from '../../../schemas/scope.ts'
import { readStoredComments } from '../../database/comments.ts'
import type { Database } from '../../database/pool.ts'
import type { BatchScope, ScopeIds } from '../../database/scopes.ts'
import { chunkIds } from '../../service/filters.ts'
import { COMMENTS } from '../record/comment.ts'
import type { CommentRecord } from '../record/comment.ts'
import { digestOfComments } from '../record/digest.ts'
import type { DataResponse } from '../record/received.ts'
import { Records } from '../record/records.ts'
import { fetchListing, PART, unchanged } from './listing.ts'
import type { Fetching } from './listing.ts'
import type { FetchedResult, RecordsResult } from './result.ts'

type CommentRecords = Records<number, CommentRecord>

/**
 * Fetches the comments of one annotation (docs/SERVICE.md, Get Comments). Those that are stored and missing from the listing are
 * fetched by their ids: only a null in the place of a comment is evidence that it is gone. With `commentIds` just these are
 * fetched.
 */
export async function fetchComments(
  fetching: Fetching,
  scope: BatchScope,
  { commentIds }: Pick<Scope, 'commentIds'>,
): Promise<FetchedResult> {
  const records: CommentRecords = new Records(COMMENTS, scope.organizationId, fetching)
  // Both results name outcome, operation and mayLack as literals: a spread of constants would copy each of them again for
  // every response.
  if (commentIds !== undefined) {
    const byIds = await fetchByIds(fetching, scope, [...new Set(commentIds)], records)
    return {
      outcome: 'records',
      operation: 'comments',
      mayLack: false,
      scope,
      ...records.result(),
      ...byIds,
      ...PART,
    }
  }
  const listing = await fetchListing(fetching, scope, 'comments', commentsFilter(scope), records)
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
  // A digest is stored only where it stands for all that is stored.
  const isWhole = records.rejects.length === 0 && byIds.gone.length === missing.length
  return {
    outcome: 'records',
    operation: 'comments',
    mayLack: false,
    scope: seenAt === undefined ? scope : { ...scope, seenAt },
    ...records.result(),
    ...byIds,
    isListing: true,
    bodyDigest: isWhole ? listing.bodyDigest : null,
    contentDigest,
  }
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
type ByIds = Pick<RecordsResult<'comments'>, 'gone' | 'incomplete'>

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
      const response = await collabApi.get(
        'comments',
        { ...commentsFilter(scope), commentIds },
        call,
      )
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

/** The filter of the comments of an annotation. */
export function commentsFilter({
  organizationId,
  documentId,
  annotationId,
}: ScopeIds): CommentsFilter {
  return { organizationId, documentId: documentId ?? '', annotationId: annotationId ?? '' }
}
