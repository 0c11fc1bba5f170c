import { COMMENT_COLUMN_LIST, COMMENT_MEMBERS, USER_COLUMN_LIST } from '../../../base/columns.ts'
import type { CommentColumns, Texts, UserColumns } from '../../../base/columns.ts'
import { readWritten } from '../../../base/timestamp.ts'
import { digestOfComments, isObject } from './digest.ts'
import { keptText, memberText } from './received.ts'
import type { Received, Reject } from './received.ts'
import { otherMembers, restOf, textColumn, timeColumn } from './member.ts'
import { keyFault, readUser } from './user.ts'

/** One comment as received. */
export class CommentRecord implements CommentColumns {
  readonly commentId: number
  readonly texts: Texts
  /** The author as a person of the organization; null where `from` names none. */
  readonly author: UserColumns | null
  /** Its place among the items of its answer. */
  readonly place: number
  /** When it says itself that it was written; null where it does not. No part of its content. */
  readonly writtenAt: string | null
  #digest: Buffer | null = null

  constructor(
    commentId: number,
    texts: Texts,
    author: UserColumns | null,
    place: number,
    writtenAt: string | null = null,
  ) {
    this.commentId = commentId
    this.texts = texts
    this.author = author
    this.place = place
    this.writtenAt = writtenAt
  }

  get lastUpdated(): string | null {
    return this.texts[LAST_UPDATED] ?? null
  }

  /** When it was written, as far as this version shows. */
  get knownWrittenAt(): string | null {
    return this.writtenAt ?? this.lastUpdated
  }

  get authorUserId(): string | null {
    return this.texts[AUTHOR_USER_ID] ?? null
  }

  /** A digest of all columns, made when it is asked for: in an answer that changed nothing, nobody asks. */
  get digest(): Buffer {
    this.#digest ??= digestOfComments([this])
    return this.#digest
  }

  /** Takes over its digest, made together with those of others. */
  keepDigest(digest: Buffer): void {
    this.#digest = digest
  }
}

const NAMES = COMMENT_COLUMN_LIST.map(({ name }) => name)
const LAST_UPDATED = NAMES.indexOf('lastUpdated')
const AUTHOR_USER_ID = NAMES.indexOf('authorUserId')
const REST = NAMES.indexOf('rest')

/** Reads one item; the reason where it has no sound key. */
export type CommentItem = { readonly record: CommentRecord } | { readonly fault: string }

/**
 * Reads one item of a Get Comments answer.
 * @param reject called for every member that could not be stored as received, with a reason
 * @param writtenPath of the member that says when it was written, which is read whatever else may be stored
 */
export function readComment(
  received: Received,
  index: number,
  reject: (reject: Reject) => void,
  writtenPath: readonly string[] | null = null,
): CommentItem {
  const item = received.itemAt(index)
  const fault = commentFault(item)
  if (fault !== null) return { fault }
  const exactText = () => received.exactTextOf(index)
  const tell = (reason: string) =>
    reject({ reason, record: keptText(received, index), isWhole: false })
  const members = item as Record<string, unknown>
  const rest = otherMembers(members, COMMENT_MEMBERS)
  const texts = NO_TEXTS.slice()
  for (const { index: at, member, type, column } of OWN_COLUMNS)
    texts[at] = READ[type](member, members[member], rest, tell, column)
  const author = readAuthor(members['from'], texts, rest, exactText, tell)
  texts[REST] = restOf(rest, exactText, tell)
  const writtenAt = writtenPath && readWritten(received.rawAt(index), writtenPath)
  return {
    record: new CommentRecord(members['commentId'] as number, texts, author, index, writtenAt),
  }
}

const NO_TEXTS: (string | null)[] = COMMENT_COLUMN_LIST.map(() => null)

/** A column that holds a member of the comment, or of its `from`. */
interface MemberColumn {
  readonly index: number
  readonly column: string
  readonly type: keyof typeof READ
  readonly member: string
}

const READ = { text: textColumn, timestamptz: timeColumn }
const OWN_COLUMNS = memberColumns(/^([^.]+)$/)
const AUTHOR_COLUMNS = memberColumns(/^from\.(.+)$/)

function memberColumns(pattern: RegExp): MemberColumn[] {
  return COMMENT_COLUMN_LIST.flatMap(({ column, type, member }, index) => {
    const own = pattern.exec(member ?? '')?.[1]
    return own === undefined || type === 'jsonb' ? [] : [{ index, column, type, member: own }]
  })
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

/**
 * Fills the author's columns. `from` goes to `rest` as a whole where they cannot give it back exactly.
 * @returns the author as a person of the organization; null where `from` names none
 */
function readAuthor(
  from: unknown,
  texts: (string | null)[],
  rest: Record<string, unknown>,
  exactText: () => string | null,
  tell: (reason: string) => void,
): UserColumns | null {
  if (from === undefined) return null
  const fault = keyFault(from)
  if (fault !== null) {
    rest['from'] = from
    if (isObject(from) && (from['userId'] === undefined || from['userId'] === null)) {
      // Which members a User summary always has is "not shown": without userId it names nobody, and is no fault.
      for (const { index, member, type, column } of AUTHOR_COLUMNS)
        texts[index] = READ[type](`from.${member}`, from[member], {}, tell, column)
    } else if (from !== null) tell(`from: ${fault}: author_user_id was set to null`)
    return null
  }
  const user = readUser(
    from as Record<string, unknown>,
    () => {
      const text = exactText()
      return text === null ? null : memberText(text, 'from')
    },
    (reason) => tell(`from: ${reason}`),
  )
  if (user.texts[USER_REST] !== null) rest['from'] = from
  for (const { index, member } of AUTHOR_COLUMNS)
    texts[index] =
      member === 'userId' ? user.userId : (user.texts[USER_MEMBERS.indexOf(member)] ?? null)
  return user
}

const USER_MEMBERS: readonly (string | null)[] = USER_COLUMN_LIST.map(({ member }) => member)
const USER_REST = USER_MEMBERS.indexOf(null)
