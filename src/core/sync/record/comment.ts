import { COMMENT_COLUMN_LIST, COMMENT_MEMBERS, USER_COLUMN_LIST } from '../../../base/columns.ts'
import type { CommentColumns, Texts, UserColumns } from '../../../base/columns.ts'
import { isObject } from '../../../base/json.ts'
import type { Json } from '../../../base/json.ts'
import { readWritten } from '../../../base/timestamp.ts'
import { digestOfComments } from './digest.ts'
import { memberColumns, otherMembers, readColumns, restOf, typeName } from './members.ts'
import type { Received } from './received.ts'
import type { RecordReader } from './records.ts'
import { readUser, userIdFault } from './user.ts'

/** Reads the items of Get Comments. */
export const COMMENTS: RecordReader<number, CommentRecord> = {
  object: 'comment',
  key: 'commentId',
  keyFault: commentIdFault,
  read: readComment,
  rawId(item) {
    const { commentId } = Object(item) as { commentId?: unknown }
    return typeof commentId === 'number' ? commentId : null
  },
}

function commentIdFault(item: unknown): string | null {
  if (!isObject(item)) return `${typeName(item)} where a comment belongs`
  const { commentId } = item
  if (commentId === undefined || commentId === null) return 'commentId is missing'
  if (typeof commentId !== 'number') return `commentId is a ${typeof commentId}, not an integer`
  if (!Number.isSafeInteger(commentId))
    return 'commentId is no integer between -(2^53 - 1) and 2^53 - 1'
  return null
}

const OWN_COLUMNS = memberColumns(COMMENT_COLUMN_LIST)
const AUTHOR_COLUMNS = memberColumns(COMMENT_COLUMN_LIST, 'from.')
const NAMES = COMMENT_COLUMN_LIST.map(({ name }) => name)
const LAST_UPDATED = NAMES.indexOf('lastUpdated')
const REST = NAMES.indexOf('rest')
const NO_TEXTS: (string | null)[] = COMMENT_COLUMN_LIST.map(() => null)

/** @param writtenPath of the member that holds the time of writing; it is read even where `Rules` leave members out */
function readComment(
  item: Json,
  received: Received,
  writtenPath: readonly string[] | null,
): CommentRecord {
  const rest = otherMembers(item, COMMENT_MEMBERS)
  const texts = NO_TEXTS.slice()
  readColumns(OWN_COLUMNS, item, texts, rest, received)
  const author = readAuthor(item['from'], texts, rest, received)
  texts[REST] = restOf(rest, received)
  const writtenAt = writtenPath && readWritten(received.raw, writtenPath)
  return new CommentRecord(item['commentId'] as number, texts, author, received.index, writtenAt)
}

const USER_MEMBERS: readonly (string | null)[] = USER_COLUMN_LIST.map(({ member }) => member)
const USER_REST = USER_MEMBERS.indexOf(null)

/**
 * Fills the author's columns. `from` goes to `rest` as a whole where they cannot give it back exactly.
 * @returns the author as a person of the organization; null where `from` names none
 */
function readAuthor(
  from: unknown,
  texts: (string | null)[],
  rest: Json,
  received: Received,
): UserColumns | null {
  if (from === undefined) return null
  const fault = userIdFault(from)
  if (fault !== null) {
    rest['from'] = from
    // Which members a User summary always has is not known: a summary without userId names no user, and is not an error.
    if (isObject(from) && (from['userId'] ?? null) === null)
      readColumns(AUTHOR_COLUMNS, from, texts, {}, received)
    else if (from !== null) received.reject(`from: ${fault}: author_user_id was set to null`)
    return null
  }
  const user = readUser(from as Json, received, 'from')
  if (user.texts[USER_REST] !== null) rest['from'] = from
  for (const { index, member } of AUTHOR_COLUMNS)
    texts[index] =
      member === 'userId' ? user.userId : (user.texts[USER_MEMBERS.indexOf(member)] ?? null)
  return user
}

/** One comment as received. */
export class CommentRecord implements CommentColumns {
  readonly commentId: number
  readonly texts: Texts
  /** The author as a person of the organization; null where `from` names none. */
  readonly author: UserColumns | null
  /** Its index among the items of its response. */
  readonly index: number
  /** When it says itself that it was written; null where it does not. No part of its content. */
  readonly writtenAt: string | null
  #digest: Buffer | null = null

  constructor(
    commentId: number,
    texts: Texts,
    author: UserColumns | null,
    index: number,
    writtenAt: string | null = null,
  ) {
    this.commentId = commentId
    this.texts = texts
    this.author = author
    this.index = index
    this.writtenAt = writtenAt
  }

  get lastUpdated(): string | null {
    return this.texts[LAST_UPDATED] ?? null
  }

  /** When it was written, as far as this version shows. */
  get knownWrittenAt(): string | null {
    return this.writtenAt ?? this.lastUpdated
  }

  /** A digest of all columns, made when it is first read: where a response changed nothing, nothing reads it. */
  get digest(): Buffer {
    this.#digest ??= digestOfComments([this])
    return this.#digest
  }

  /** Takes over its digest, made together with those of others. */
  keepDigest(digest: Buffer): void {
    this.#digest = digest
  }
}
