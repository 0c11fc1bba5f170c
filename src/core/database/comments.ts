import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { arraysOf, COMMENT_COLUMN_LIST, textsOf } from '../../base/columns.ts'
import { copyRows } from './comment-rows.ts'
import type { AnnotationComments, ZoneDays } from './comment-rows.ts'
import type { Client } from './pool.ts'
import type { On, RowOf } from './statement.ts'
import * as statements from './statements/comments.ts'

/** A stored comment, as far as comparing needs it. */
export type StoredComment = Pick<RowOf<typeof statements.readDigests>, 'digest' | 'deleted'>

/** Every comment stored under some annotations, deleted ones too. @returns by annotation key, by id */
export async function readStoredComments(
  on: On,
  annotationKeys: readonly number[],
): Promise<Map<number, Map<number, StoredComment>>> {
  const stored = new Map(annotationKeys.map((key) => [key, new Map<number, StoredComment>()]))
  if (annotationKeys.length === 0) return stored
  const rows = await statements.readDigests.all(on, { annotationKeys })
  for (const { annotationKey, commentId, digest, deleted } of rows)
    stored.get(annotationKey)?.set(commentId, { digest, deleted })
  return stored
}

/**
 * Adds comments that are not stored yet.
 * @param at when they were first seen
 * @param days those of reports; UTC when left out
 */
export async function insertComments(
  client: Client,
  annotations: readonly AnnotationComments[],
  at: Date,
  days?: ZoneDays,
): Promise<void> {
  if (annotations.every(({ comments }) => comments.length === 0)) return
  const rows = Readable.from(copyRows(annotations, at, days))
  await pipeline(rows, client.query(copyFrom(statements.copy.text)))
}

/** Changes stored comments; keeps the superseded version where the content changed or the comment is back. */
export async function updateComments(
  client: Client,
  annotations: readonly Pick<AnnotationComments, 'annotationKey' | 'comments' | 'seenAt'>[],
  at: Date,
): Promise<void> {
  const comments = annotations.flatMap((annotation) => annotation.comments)
  if (comments.length === 0) return
  await statements.update.run(client, {
    annotationKeys: annotations.flatMap((annotation) =>
      annotation.comments.map(() => annotation.annotationKey),
    ),
    commentIds: comments.map((comment) => comment.commentId),
    digests: comments.map((comment) => comment.digest),
    writtenAts: comments.map((comment) => comment.writtenAt),
    ...arraysOf(COMMENT_COLUMN_LIST, comments),
    ats: annotations.flatMap((annotation) =>
      annotation.comments.map(() => (annotation.seenAt ?? at).toISOString()),
    ),
  })
}

/** Marks comments deleted; only for IDs for which the service returned null. */
export async function deleteComments(
  client: Client,
  gone: readonly { annotationKey: number; commentId: number; seenAt?: Date | undefined }[],
  at: Date,
): Promise<void> {
  if (gone.length === 0) return
  await statements.deleteStatement.run(client, {
    annotationKeys: gone.map(({ annotationKey }) => annotationKey),
    commentIds: gone.map(({ commentId }) => commentId),
    ats: gone.map(({ seenAt }) => (seenAt ?? at).toISOString()),
  })
}

/**
 * All content of comments stored under an annotation, by id; `rest` is PostgreSQL's text of it.
 * @param commentIds those with these ids, deleted ones too; null for all live ones
 */
export async function readCommentContents(
  on: On,
  annotationKey: number,
  commentIds: readonly number[] | null,
) {
  const rows = await statements.read.all(on, { annotationKey, commentIds })
  return new Map(
    rows.map((row) => [row.commentId, { ...row, texts: textsOf(COMMENT_COLUMN_LIST, row) }]),
  )
}
