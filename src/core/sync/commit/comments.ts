import {
  deleteComments,
  insertComments,
  readStoredComments,
  updateComments,
} from '../../database/comments.ts'
import type { Client } from '../../database/pool.ts'
import { storeAnnotations } from '../../database/scopes.ts'
import type { KnownAnnotation } from '../../database/scopes.ts'
import { putUsers } from '../../database/users.ts'
import { activeAtOf, compareComments, notBeforeOf } from '../compare/comments.ts'
import type { CommentChanges } from '../compare/comments.ts'
import type { Committing } from '../context.ts'
import type { RecordsResult } from '../fetch/result.ts'
import type { CommentRecord } from '../record/comment.ts'
import { peopleOf } from './user-rows.ts'
import { usersToPut } from './users.ts'

/** Writes the comments of responses, and the people of those that changed. Adds to the counts. */
export async function commitComments(
  client: Client,
  committing: Committing,
  results: readonly RecordsResult<'comments'>[],
): Promise<void> {
  const { organizationKey } = (results[0] as RecordsResult).scope
  const { claim } = committing
  const { at, rules } = claim
  // Read again under the lock: the stored comments may have changed since the responses were fetched.
  const withRows = results.filter(({ scope }) => scope.hasRows).map(({ scope }) => scope.key)
  const stored = await readStoredComments(client, withRows)
  const compared = results.map((result) => ({
    result,
    changes: compareComments(
      stored.get(result.scope.key) ?? new Map(),
      result.records,
      result.gone,
    ),
  }))
  // An unchanged comment shows its people as before.
  const written = compared.flatMap(({ changes: { added, changed } }) => [added, changed]).flat()
  const users = await usersToPut(client, organizationKey, peopleOf(written))
  const commentsOf = (pick: (changes: CommentChanges) => readonly CommentRecord[]) =>
    compared.map(({ result, changes }) => ({
      organizationKey,
      annotationKey: result.scope.key,
      notBefore: notBeforeOf(result.scope),
      seenAt: result.scope.seenAt,
      comments: pick(changes),
    }))
  const added = commentsOf((changes) => changes.added)
  await insertComments(client, added, at, rules.days)
  const changed = commentsOf((changes) => changes.changed)
  await updateComments(client, changed, at)
  const gone = compared.flatMap(({ result: { scope }, changes }) =>
    changes.deleted.map((commentId) => ({
      annotationKey: scope.key,
      commentId,
      seenAt: scope.seenAt,
    })),
  )
  await deleteComments(client, gone, at)
  await storeAnnotations(
    client,
    compared.flatMap(({ result, changes }) => knownAnnotationOf(result, changes, claim.claimedAt)),
    at,
  )
  for (const { result, changes } of compared) count(committing, result, changes)
  // Last, so that other commits wait for these rows as briefly as possible.
  committing.counts.usersWritten += await putUsers(client, organizationKey, users.rows, at, {
    emails: rules.emails,
    runId: claim.runId,
  })
}

/**
 * What is now known of the annotation. A response to a scoped call that changed something leaves no digest: the next full listing
 * may be the one that was stored before it, and must be read all the same.
 */
function knownAnnotationOf(
  result: RecordsResult<'comments'>,
  changes: CommentChanges,
  at: Date,
): KnownAnnotation[] {
  const { scope, bodyDigest } = result
  const contentDigest = bodyDigest && result.contentDigest
  const changed = changes.added.length + changes.changed.length + changes.deleted.length > 0
  const isKnown = contentDigest === null && scope.contentDigest === null
  if (!changed && (isKnown || !result.isListing)) return []
  const activeAt = activeAtOf(changes, scope, at)
  return [{ scope, recordCount: changes.live, bodyDigest, contentDigest, changed, activeAt }]
}

function count(
  { counts }: Committing,
  result: RecordsResult<'comments'>,
  changes: CommentChanges,
): void {
  const { records, rejectedItems, gone, rejects } = result
  counts.recordsReceived += records.length + rejectedItems + gone.length
  counts.recordsInserted += changes.added.length
  counts.recordsUpdated += changes.changed.length
  counts.recordsUnchanged += changes.unchanged
  counts.recordsRejected += rejectedItems
  counts.recordsNull += gone.length
  counts.commentsWritten += changes.added.length + changes.changed.length
  counts.commentsDeleted += changes.deleted.length
  counts.rejected += rejects.length
}
