import {
  deleteComments,
  insertComments,
  readStoredComments,
  updateComments,
} from '../database/comments.ts'
import type { NewComment } from '../database/comment-rows.ts'
import type { Client } from '../database/pool.ts'
import { storeAnswers } from '../database/scopes.ts'
import type { BatchScope, KnownAnswer } from '../database/scopes.ts'
import { putUsers, readUsers } from '../database/users.ts'
import type { Committing } from './committing.ts'
import { compareComments } from './compare.ts'
import type { CommentChanges } from './compare.ts'
import type { CommentRecord } from './comment-record.ts'
import type { CommentsResult } from './scope-result.ts'
import { addAuthors, rowsToPut } from './user-rows.ts'
import type { UserCandidates } from './user-rows.ts'

/** Writes the comments of answers, and the authors of those that changed. Adds to the counts. */
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
  const rowsOf = (pick: (changes: CommentChanges) => readonly CommentRecord[]) =>
    compared.flatMap(({ result, changes }) =>
      pick(changes).map((record) => rowOf(result.scope, record)),
    )
  await insertComments(
    client,
    rowsOf(({ added }) => added),
    at,
  )
  await updateComments(
    client,
    rowsOf(({ changed }) => changed),
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
  const written = compared.flatMap(({ changes }) => [...changes.added, ...changes.changed])
  committing.counts.users_written += await putAuthors(client, organizationKey, written, at)
}

function rowOf(scope: BatchScope, record: CommentRecord): NewComment {
  return { annotationKey: scope.key, ...record, digest: record.digest }
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
  return [{ scope, recordCount: changes.live, bodyDigest, contentDigest, changed }]
}

/** Authors get their row last, where others may wait for it shortest. Only changed comments speak of their authors. */
async function putAuthors(
  client: Client,
  organizationKey: number,
  written: readonly CommentRecord[],
  at: Date,
): Promise<number> {
  const candidates: UserCandidates = new Map()
  addAuthors(candidates, written)
  const stored = await readUsers(client, organizationKey, [...candidates.keys()])
  return putUsers(client, organizationKey, rowsToPut(candidates, stored), at)
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
