import {
  emptyVersions,
  findComments,
  readComments,
  updateComments,
} from '../database/erase-comments.ts'
import type { CommentToErase } from '../database/erase-comments.ts'
import type { ErasePlace } from '../database/erase.ts'
import type { Client } from '../database/pool.ts'
import { eraseCommentRecord } from './erase-record.ts'
import type { Person } from './person.ts'

/** Comments in memory at a time. */
const COMMENTS_A_PAGE = 1000

/** What was done to comments. */
export interface CommentsErased {
  /** By the person. */
  readonly own: number
  readonly versions: number
  /** By others, whose further members named the person. */
  readonly mentions: number
  /** The annotations of all of these. */
  readonly annotationKeys: readonly number[]
}

/** Empties a person's comments and their history, and takes the person's id out of the further members of others'. */
export async function eraseComments(
  client: Client,
  place: ErasePlace,
  person: Person,
): Promise<CommentsErased> {
  const keys = await findComments(client, place, person)
  let own = 0
  let versions = 0
  for (let from = 0; from < keys.length; from += COMMENTS_A_PAGE) {
    const stored = await readComments(client, keys.slice(from, from + COMMENTS_A_PAGE))
    const redacted = stored.map((comment) => eraseCommentRecord(comment, person.redaction))
    await updateComments(client, redacted)
    const theirs = stored.filter((comment) => isBy(comment, person))
    versions += await emptyVersions(client, theirs)
    own += theirs.length
  }
  return {
    own,
    versions,
    mentions: keys.length - own,
    annotationKeys: [...new Set(keys.map(({ annotationKey }) => annotationKey))],
  }
}

function isBy({ authorUserId, authorEmail }: CommentToErase, person: Person): boolean {
  if (authorUserId !== null) return authorUserId === person.userId
  return authorEmail !== null && (person.redaction.erased?.hasEmail(authorEmail) ?? false)
}
