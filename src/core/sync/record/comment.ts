import {
  COMMENT_COLUMN_LIST,
  COMMENT_PEOPLE,
  RECORDS,
  USER_COLUMN_LIST,
} from '../../../base/columns.ts'
import type { CommentColumns, Texts, UserColumns } from '../../../base/columns.ts'
import { isObject } from '../../../base/json.ts'
import type { Json } from '../../../base/json.ts'
import { readWritten } from '../../../base/timestamp.ts'
import { digestOfComments } from './digest.ts'
import { memberColumns, otherMembers, readColumns, restOf, typeName } from './members.ts'
import type { Received } from './received.ts'
import type { RecordReader } from './records.ts'
import { readUser, userIdFault } from './user.ts'

declare module '../fetch/result.ts' {
  interface RecordTypes {
    comments: { record: CommentRecord; id: number }
  }
}

/** Reads the items of Get Comments. */
export const COMMENTS: RecordReader<number, CommentRecord> = {
  operation: 'comments',
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
const USER_MEMBERS: readonly (string | null)[] = USER_COLUMN_LIST.map(({ member }) => member)
const PEOPLE = COMMENT_PEOPLE.map(({ member: holder }) => {
  const columns = memberColumns(COMMENT_COLUMN_LIST, `${holder}.`)
  const known = new Set<string | null>(columns.map(({ member }) => member))
  return {
    holder,
    columns,
    userColumns: memberColumns(USER_COLUMN_LIST, '', `${holder}: `),
    /** For each column, where a user has its value: -1 for the user id. */
    sources: columns.map(({ index, member }) => ({ index, of: USER_MEMBERS.indexOf(member) })),
    /** Where a user has what these columns do not. */
    others: USER_MEMBERS.flatMap((member, index) => (known.has(member) ? [] : [index])),
  }
})
const NAMES = COMMENT_COLUMN_LIST.map(({ name }) => name)
const LAST_UPDATED = NAMES.indexOf('lastUpdated')
const REST = NAMES.indexOf('rest')
const NO_PEOPLE: readonly UserColumns[] = []
const NO_TEXTS: (string | null)[] = COMMENT_COLUMN_LIST.map(() => null)

/** @param writtenPath of the member that holds the time of writing; it is read even where `Rules` leave members out */
function readComment(
  item: Json,
  received: Received,
  writtenPath: readonly string[] | null,
): CommentRecord {
  const rest = otherMembers(item, RECORDS.comment.members)
  const texts = NO_TEXTS.slice()
  readColumns(OWN_COLUMNS, item, texts, rest, received)
  let people = NO_PEOPLE
  for (const person of PEOPLE) {
    const user = readPerson(person, item, texts, rest, received)
    // A literal or `push` would cost more (docs/decisions/2026-11-29-cpu-of-a-call.md).
    if (user !== null) people = people.concat(user)
  }
  texts[REST] = restOf(rest, received)
  const writtenAt = writtenPath && readWritten(received.raw, writtenPath)
  return new CommentRecord(item['commentId'] as number, texts, people, received.index, writtenAt)
}

/**
 * Fills the columns of a person. The member goes to `rest` as a whole where they cannot give it back exactly.
 * @returns the person as a user of the organization; null where the member names none
 */
function readPerson(
  { holder, columns, userColumns, sources, others }: (typeof PEOPLE)[number],
  item: Json,
  texts: (string | null)[],
  rest: Json,
  received: Received,
): UserColumns | null {
  const summary = item[holder]
  if (summary === undefined) return null
  const fault = userIdFault(summary)
  if (fault !== null) {
    rest[holder] = summary
    // Which members a User summary always has is not known: one without userId names no user, and is not an error.
    if (isObject(summary) && (summary['userId'] ?? null) === null)
      readColumns(columns, summary, texts, {}, received)
    else if (summary !== null)
      received.reject(`${holder}: ${fault}: ${columns[0]?.column} was set to null`)
    return null
  }
  const user = readUser(summary as Json, received, userColumns, holder)
  for (const { index, of } of sources)
    texts[index] = of < 0 ? user.userId : (user.texts[of] ?? null)
  for (const index of others) if (user.texts[index] !== null) rest[holder] = summary
  return user
}

/** One comment as received. */
export class CommentRecord implements CommentColumns {
  readonly commentId: number
  readonly texts: Texts
  /** Its people as users of the organization, the author first. */
  readonly people: readonly UserColumns[]
  /** Its index among the items of its response. */
  readonly index: number
  /** When it says itself that it was written; null where it does not. No part of its content. */
  readonly writtenAt: string | null
  #digest: Buffer | null = null

  constructor(
    commentId: number,
    texts: Texts,
    people: readonly UserColumns[],
    index: number,
    writtenAt: string | null = null,
  ) {
    this.commentId = commentId
    this.texts = texts
    this.people = people
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
