import {
  deleteComments,
  insertComments,
  readStoredComments,
  updateComments,
} from '../database/comments.ts'
import type { Client } from '../database/pool.ts'
import { storeAnswers } from '../database/scopes.ts'
import type { KnownAnswer } from '../database/scopes.ts'
import { putUsers } from '../database/users.ts'
import type { Committing } from './committing.ts'
import { compareComments } from './compare.ts'
import type { CommentChanges } from './compare.ts'
import type { CommentRecord } from './comment-record.ts'
import type { CommentsResult } from './scope-result.ts'
import { threadFactsOf } from './thread-facts.ts'
import { authorsOf } from './user-rows.ts'
import { usersToPut } from './users-turn.ts'

/**
 * Writes the comments of answers, and the authors of those that changed. Adds to the counts.
 * @throws OrganizationBusyError where another commit is writing users of the organization, and this one yields
 */
export async function commitComments(
  client: Client,
  committing: Committing,
  results: readonly CommentsResult[],
): Promise<void> {
  const organizationKey = results[0]?.scope.organizationKey
  if (organizationKey === undefined) return
  const at = committing.claim.at
  // Read again under the lock: what was stored when the answers were asked for may have changed since.
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
  // Only comments that changed speak of their authors.
  const written = compared.flatMap(({ changes: { added, changed } }) => [added, changed]).flat()
  const authors = await usersToPut(client, committing, organizationKey, authorsOf(written))
  const commentsOf = (pick: (changes: CommentChanges) => readonly CommentRecord[]) =>
    compared.map(({ result, changes }) => ({
      organizationKey,
      annotationKey: result.scope.key,
      comments: pick(changes),
    }))
  await insertComments(
    client,
    commentsOf(({ added }) => added),
    at,
  )
  await updateComments(
    client,
    commentsOf(({ changed }) => changed),
    at,
  )
  const gone = compared.flatMap(({ result, changes }) =>
    changes.deleted.map((commentId) => ({ annotationKey: result.scope.key, commentId })),
  )
  await deleteComments(client, gone, at)
  await storeAnswers(
    client,
    compared.flatMap(({ result, changes }) => knownAnswerOf(result, changes)),
    at,
  )
  for (const { result, changes } of compared) count(committing, result, changes)
  // Last, where others may wait for them shortest.
  committing.counts.users_written += await putUsers(client, organizationKey, authors.rows, at)
}

/**
 * What is now known of the annotation. A narrowed answer that changed something leaves no digest: the next full listing
 * may be the one that was stored before it, and must be looked at all the same.
 */
function knownAnswerOf(result: CommentsResult, changes: CommentChanges): KnownAnswer[] {
  const { scope, bodyDigest, contentDigest } = result
  const changed = changes.added.length + changes.changed.length + changes.deleted.length > 0
  const isKnown = contentDigest === null && scope.contentDigest === null
  if (!changed && (isKnown || !result.isListing)) return []
  const known = { scope, recordCount: changes.live, bodyDigest, contentDigest, changed }
  const isFirst = !scope.hasRows && changed
  return [isFirst ? { ...known, facts: threadFactsOf(changes.added) } : known]
}

function count({ counts }: Committing, result: CommentsResult, changes: CommentChanges): void {
  const { records, rejectedItems, gone, rejects } = result
  counts.records_received += records.length + rejectedItems + gone.length
  counts.records_inserted += changes.added.length
  counts.records_updated += changes.changed.length
  counts.records_unchanged += changes.unchanged
  counts.records_rejected += rejectedItems
  counts.records_null += gone.length
  counts.comments_written += changes.added.length + changes.changed.length
  counts.comments_deleted += changes.deleted.length
  counts.rejected += rejects.length
}
