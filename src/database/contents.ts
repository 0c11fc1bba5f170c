import type { On, RowOf } from './statement.ts'
import * as comments from './statements/comments.ts'
import * as users from './statements/users.ts'

/** All content of a stored comment, in the columns of `collab_store.comments`. */
export type CommentContent = RowOf<typeof comments.read>

/**
 * Comments stored under an annotation, by id.
 * @param commentIds those with these ids, deleted ones too; null for all live ones
 */
export async function readCommentContents(
  on: On,
  annotationKey: number,
  commentIds: readonly number[] | null,
): Promise<Map<number, CommentContent>> {
  const rows = await comments.read.all(on, { annotationKey, commentIds })
  return new Map(rows.map((row) => [row.commentId, row]))
}

/** All content of a stored user, in the columns of `collab_store.users`. */
export type UserContent = RowOf<typeof users.readContent>

/** Users of one organization by id: those named, and with `isListedToo` those of its own listing. */
export async function readUserContents(
  on: On,
  organizationKey: number,
  userIds: readonly string[],
  isListedToo: boolean,
): Promise<Map<string, UserContent>> {
  const rows = await users.readContent.all(on, { organizationKey, userIds, isListedToo })
  return new Map(rows.map((row) => [row.userId, row]))
}
