import type { CommentColumns } from '../../database/comment-rows.ts'
import { COMMENT_MEMBERS } from '../../privacy/redact.ts'
import { digestOfComment, isObject } from './digest.ts'
import { faultsOf, memberText } from './received.ts'
import type { Received, Reject } from './received.ts'
import { restOf } from './rest.ts'
import { readTimestamp } from './timestamp.ts'
import { keyFault, otherMembers, readUser, textColumn } from './user.ts'
import type { UserColumns } from './user.ts'

/** One comment as received, with its author. */
export interface CommentRecord extends CommentColumns {
  /** A digest of all columns: equal content gives the same, whatever the order of its members. */
  readonly digest: Buffer
  /** Takes over its digest, made together with those of others. */
  keepDigest(digest: Buffer): void
  /** The author as a person of the organization; null where `from` names none. */
  readonly author: UserColumns | null
  /** Its place among the items of its answer. */
  readonly place: number
}

/** Reads one item; the reason where it has no sound key. */
export type CommentItem = { readonly record: CommentRecord } | { readonly fault: string }

/**
 * Reads one item of a Get Comments answer.
 * @param reject called for every member that could not be stored as received, with a reason
 */
export function readComment(
  received: Received,
  index: number,
  reject: (reject: Reject) => void,
): CommentItem {
  const item = received.itemAt(index)
  const fault = commentFault(item)
  if (fault !== null) return { fault }
  const exactText = () => received.exactTextOf(index)
  const tell = faultsOf(received, index, reject)
  const members = item as Record<string, unknown>
  const { commentId, commentText, commentHtml, from, lastUpdated, status, type } = members
  const rest = otherMembers(members, DOCUMENTED)
  const text = textColumn('commentText', commentText, rest, tell, 'comment_text')
  const html = textColumn('commentHtml', commentHtml, rest, tell, 'comment_html')
  const statusColumn = textColumn('status', status, rest, tell)
  const typeColumn = textColumn('type', type, rest, tell)
  const time = timeColumn(lastUpdated, rest, tell)
  const author = authorColumns(from, rest, exactText, tell)
  const restText = restOf(rest, exactText, (path) =>
    tell(`${path} cannot be stored: left out of raw`),
  )
  return {
    record: new Comment({
      commentId: commentId as number,
      commentText: text,
      commentHtml: html,
      authorUserId: author.userId,
      authorName: author.name,
      authorEmail: author.email,
      status: statusColumn,
      type: typeColumn,
      lastUpdated: time,
      rest: restText,
      author: author.user,
      place: index,
    }),
  }
}

const DOCUMENTED: ReadonlySet<string> = new Set(COMMENT_MEMBERS)

/** A record whose digest is made when it is asked for: in an answer that changed nothing, nobody asks. */
class Comment implements CommentRecord {
  readonly commentId: number
  readonly commentText: string | null
  readonly commentHtml: string | null
  readonly authorUserId: string | null
  readonly authorName: string | null
  readonly authorEmail: string | null
  readonly status: string | null
  readonly type: string | null
  readonly lastUpdated: string | null
  readonly rest: string | null
  readonly author: UserColumns | null
  readonly place: number
  #digest: Buffer | null = null

  constructor(columns: Omit<CommentRecord, 'digest' | 'keepDigest'>) {
    this.commentId = columns.commentId
    this.commentText = columns.commentText
    this.commentHtml = columns.commentHtml
    this.authorUserId = columns.authorUserId
    this.authorName = columns.authorName
    this.authorEmail = columns.authorEmail
    this.status = columns.status
    this.type = columns.type
    this.lastUpdated = columns.lastUpdated
    this.rest = columns.rest
    this.author = columns.author
    this.place = columns.place
  }

  keepDigest(digest: Buffer): void {
    this.#digest = digest
  }

  get digest(): Buffer {
    this.#digest ??= digestOfComment(this)
    return this.#digest
  }
}

function commentFault(item: unknown): string | null {
  if (item === null) return 'null where a comment belongs'
  if (!isObject(item))
    return `${Array.isArray(item) ? 'an array' : `a ${typeof item}`} where a comment belongs`
  const { commentId } = item
  if (commentId === undefined || commentId === null) return 'commentId is missing'
  if (typeof commentId !== 'number') return `commentId is a ${typeof commentId}, not an integer`
  if (!Number.isSafeInteger(commentId))
    return 'commentId is no integer between -(2^53 - 1) and 2^53 - 1'
  return null
}

function timeColumn(
  value: unknown,
  rest: Record<string, unknown>,
  tell: (reason: string) => void,
): string | null {
  if (value === undefined) return null
  const time = readTimestamp(value)
  if (time === null) {
    if (value !== null) tell('lastUpdated is no readable time: last_updated was set to null')
    rest['lastUpdated'] = value
    return null
  }
  if (!time.isExact) rest['lastUpdated'] = value
  return time.iso
}

interface Author {
  readonly userId: string | null
  readonly name: string | null
  readonly email: string | null
  readonly user: UserColumns | null
}

const NO_AUTHOR: Author = { userId: null, name: null, email: null, user: null }

/** The author's columns. `from` goes to `rest` as a whole where they cannot give it back exactly. */
function authorColumns(
  from: unknown,
  rest: Record<string, unknown>,
  exactText: () => string | null,
  tell: (reason: string) => void,
): Author {
  if (from === undefined) return NO_AUTHOR
  const fault = keyFault(from)
  if (fault !== null) {
    rest['from'] = from
    if (isObject(from) && (from['userId'] === undefined || from['userId'] === null)) {
      // Which members a User summary always has is "not shown": without userId it names nobody, and is no fault.
      const texts = { ...from }
      return {
        ...NO_AUTHOR,
        name: textColumn('from.name', texts['name'], {}, tell, 'author_name'),
        email: textColumn('from.email', texts['email'], {}, tell, 'author_email'),
      }
    }
    if (from !== null) tell(`from: ${fault}: author_user_id was set to null`)
    return NO_AUTHOR
  }
  const user = readUser(
    from as Record<string, unknown>,
    () => {
      const text = exactText()
      return text === null ? null : memberText(text, 'from')
    },
    (reason) => tell(`from: ${reason}`),
  )
  if (user.rest !== null) rest['from'] = from
  return { userId: user.userId, name: user.name, email: user.email, user }
}
