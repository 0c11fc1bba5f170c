import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'
import type { UserSource } from './users.ts'

/** All content of a stored comment, in the columns of `collab.comments`. */
export interface CommentContent {
  readonly commentText: string | null
  readonly commentHtml: string | null
  readonly authorUserId: string | null
  readonly authorName: string | null
  readonly authorEmail: string | null
  readonly status: string | null
  readonly type: string | null
  readonly lastUpdated: Date | null
  /** Members that the other columns cannot give back exactly; null when there are none. */
  readonly rest: object | null
  readonly digest: Buffer
  readonly changedAt: Date
  readonly deleted: boolean
}

/**
 * Comments stored under an annotation, by id.
 * @param commentIds those with these ids, deleted ones too; null for all live ones
 */
export async function readCommentContents(
  on: Database | Client,
  annotationKey: number,
  commentIds: readonly number[] | null,
): Promise<Map<number, CommentContent>> {
  const { rows } = await on.query(sql('comments/read'), [annotationKey, commentIds])
  return new Map(
    rows.map((row) => [
      row.comment_id,
      {
        commentText: row.comment_text,
        commentHtml: row.comment_html,
        authorUserId: row.author_user_id,
        authorName: row.author_name,
        authorEmail: row.author_email,
        status: row.status,
        type: row.type,
        lastUpdated: row.last_updated,
        rest: row.rest,
        digest: row.digest,
        changedAt: row.changed_at,
        deleted: row.deleted,
      },
    ]),
  )
}

/** All content of a stored user, in the columns of `collab.users`. */
export interface UserContent {
  readonly name: string | null
  readonly email: string | null
  readonly rest: object | null
  readonly source: UserSource
  readonly listed: boolean
  readonly digest: Buffer
  readonly changedAt: Date
}

/** Users of one organization by id: those named, and with `orListed` those of its own listing too. */
export async function readUserContents(
  on: Database | Client,
  organizationKey: number,
  userIds: readonly string[],
  orListed: boolean,
): Promise<Map<string, UserContent>> {
  const { rows } = await on.query(sql('users/read-content'), [organizationKey, userIds, orListed])
  return new Map(
    rows.map((row) => [
      row.user_id,
      {
        name: row.name,
        email: row.email,
        rest: row.rest,
        source: row.source,
        listed: row.listed,
        digest: row.digest,
        changedAt: row.changed_at,
      },
    ]),
  )
}
