import type { ErasePlace, PersonSearch } from './erase.ts'
import type { Client } from './pool.ts'
import { sql } from './sql.ts'

/** The key of a comment. */
export interface CommentKey {
  readonly annotationKey: number
  readonly commentId: number
}

/** A comment that may speak of a person. */
export interface FoundComment extends CommentKey {
  readonly batchKey: number
  readonly isHit: boolean
  /** Its words hold one of the names. */
  readonly isNamed: boolean
  /** Characters of its texts. */
  readonly units: number
}

/** Comments by the person, that may speak of the person, or whose words hold one of the names; batch after batch. */
export async function findComments(
  client: Client,
  { organizationKeys }: ErasePlace,
  search: PersonSearch,
  registeredAt: Date,
): Promise<FoundComment[]> {
  await client.query(sql('erase/no-time-limits'))
  const { userId, pseudonym, pattern, emails, names, namesPattern } = search
  const { rows } = await client.query(sql('erase/find-comments'), [
    organizationKeys,
    userId,
    pattern,
    emails,
    names,
    namesPattern,
    pseudonym,
    registeredAt,
  ])
  return rows.map((row) => ({
    annotationKey: row.annotation_key,
    commentId: row.comment_id,
    batchKey: row.batch_key,
    isHit: row.hit,
    isNamed: row.named,
    units: row.units,
  }))
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
export type CommentErased = Omit<CommentToErase, 'lastUpdated'> & {
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
    comments.map(({ status }) => status),
    comments.map(({ type }) => type),
    comments.map(({ rest }) => rest),
    comments.map(({ digest }) => digest),
  ])
}

/** @returns how many versions were emptied */
export async function emptyVersions(client: Client, keys: readonly CommentKey[]): Promise<number> {
  const { rowCount } = await client.query(sql('erase/empty-versions'), columnsOf(keys))
  return rowCount ?? 0
}

/** The next run looks at the answers again that spoke of the person. */
export async function forgetThreads(
  client: Client,
  keys: readonly CommentKey[],
  userId: string | null,
  pseudonym: string,
): Promise<void> {
  const annotationKeys = [...new Set(keys.map(({ annotationKey }) => annotationKey))]
  await client.query(sql('erase/forget-threads'), [annotationKeys, userId, pseudonym])
}

function columnsOf(keys: readonly CommentKey[]): [number[], number[]] {
  return [keys.map(({ annotationKey }) => annotationKey), keys.map(({ commentId }) => commentId)]
}
