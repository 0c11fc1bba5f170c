import type { ErasePlace } from './erase.ts'
import type { Client } from './pool.ts'
import { sql } from './sql.ts'

/** The key of a comment. */
export interface CommentKey {
  readonly annotationKey: number
  readonly commentId: number
}

/** Comments by the person, or whose further members name them. */
export async function findComments(
  client: Client,
  { organizationKeys }: ErasePlace,
  person: { userId: string; emails: readonly string[]; idInJson: readonly string[] },
): Promise<CommentKey[]> {
  const { rows } = await client.query(sql('erase/find-comments'), [
    organizationKeys,
    person.userId,
    person.emails.map((email) => email.toLowerCase()),
    person.idInJson,
  ])
  return rows.map((row) => ({ annotationKey: row.annotation_key, commentId: row.comment_id }))
}

/** A stored comment; `rest` is JSON text. */
export interface CommentToErase extends CommentKey {
  readonly commentText: string | null
  readonly commentHtml: string | null
  readonly authorUserId: string | null
  readonly authorName: string | null
  readonly authorEmail: string | null
  readonly status: string | null
  readonly type: string | null
  readonly lastUpdated: Date | null
  readonly rest: string | null
}

export async function readComments(
  client: Client,
  keys: readonly CommentKey[],
): Promise<CommentToErase[]> {
  const { rows } = await client.query(sql('erase/read-comments'), columnsOf(keys))
  return rows.map((row) => ({
    annotationKey: row.annotation_key,
    commentId: row.comment_id,
    commentText: row.comment_text,
    commentHtml: row.comment_html,
    authorUserId: row.author_user_id,
    authorName: row.author_name,
    authorEmail: row.author_email,
    status: row.status,
    type: row.type,
    lastUpdated: row.last_updated,
    rest: row.rest,
  }))
}

/** A comment as it is to be stored now. */
export type CommentErased = Omit<CommentToErase, 'status' | 'type' | 'lastUpdated'> & {
  readonly digest: Buffer
}

export async function updateComments(
  client: Client,
  comments: readonly CommentErased[],
): Promise<void> {
  await client.query(sql('erase/update-comments'), [
    ...columnsOf(comments),
    comments.map(({ commentText }) => commentText),
    comments.map(({ commentHtml }) => commentHtml),
    comments.map(({ authorUserId }) => authorUserId),
    comments.map(({ authorName }) => authorName),
    comments.map(({ authorEmail }) => authorEmail),
    comments.map(({ rest }) => rest),
    comments.map(({ digest }) => digest),
  ])
}

/** @returns how many versions were emptied */
export async function emptyVersions(client: Client, keys: readonly CommentKey[]): Promise<number> {
  const { rowCount } = await client.query(sql('erase/empty-versions'), columnsOf(keys))
  return rowCount ?? 0
}

function columnsOf(keys: readonly CommentKey[]): [number[], number[]] {
  return [keys.map(({ annotationKey }) => annotationKey), keys.map(({ commentId }) => commentId)]
}
