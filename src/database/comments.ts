import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import { from as copyFrom } from 'pg-copy-streams'
import { copyOf, encodeRows } from './comment-rows.ts'
import type { AnnotationComments, EncodedRows } from './comment-rows.ts'
import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'

/** A stored comment, as far as comparing needs it. */
export interface StoredComment {
  readonly digest: Buffer
  readonly deleted: boolean
}

/** Comments by id, by annotation key. */
export type StoredComments = Map<number, Map<number, StoredComment>>

/** Every comment stored under some annotations, deleted ones too. */
export async function readStoredComments(
  on: Database | Client,
  annotationKeys: readonly number[],
): Promise<StoredComments> {
  const stored: StoredComments = new Map(annotationKeys.map((key) => [key, new Map()]))
  if (annotationKeys.length === 0) return stored
  const { rows } = await on.query({
    name: 'comments/read-digests',
    text: sql('comments/read-digests'),
    values: [annotationKeys],
  })
  for (const row of rows) {
    stored
      .get(row.annotation_key)
      ?.set(row.comment_id, { digest: row.digest, deleted: row.deleted })
  }
  return stored
}

/**
 * Adds comments that are not stored yet.
 * @param rows those that are rows already
 * @param at when the others were first seen
 */
export async function insertComments(
  client: Client,
  rows: EncodedRows,
  others: readonly AnnotationComments[],
  at: Date,
): Promise<void> {
  if (rows.bytes === 0 && others.every(({ comments }) => comments.length === 0)) return
  const bytes = copyOf(rows.chunks, encodeRows(others, at))
  await pipeline(Readable.from(bytes), client.query(copyFrom(sql('comments/copy'))))
}

/** Changes stored comments; keeps the superseded version where the content changed or the comment is back. */
export async function updateComments(
  client: Client,
  annotations: readonly AnnotationComments[],
  at: Date,
): Promise<void> {
  const comments = annotations.flatMap((annotation) => annotation.comments)
  if (comments.length === 0) return
  await client.query(sql('comments/update'), [
    annotations.flatMap((annotation) => annotation.comments.map(() => annotation.annotationKey)),
    comments.map((comment) => comment.commentId),
    comments.map((comment) => comment.lastUpdated),
    comments.map((comment) => comment.commentText),
    comments.map((comment) => comment.commentHtml),
    comments.map((comment) => comment.status),
    comments.map((comment) => comment.type),
    comments.map((comment) => comment.authorUserId),
    comments.map((comment) => comment.authorName),
    comments.map((comment) => comment.authorEmail),
    comments.map((comment) => comment.rest),
    comments.map((comment) => comment.digest),
    at,
  ])
}

/** Marks comments deleted; only for ids that the service itself answered with null. */
export async function deleteComments(
  client: Client,
  gone: readonly { annotationKey: number; commentId: number }[],
  at: Date,
): Promise<void> {
  if (gone.length === 0) return
  await client.query(sql('comments/delete'), [
    gone.map(({ annotationKey }) => annotationKey),
    gone.map(({ commentId }) => commentId),
    at,
  ])
}
