import { namesPeople } from '../../src/base/columns.ts'
import { canonical } from './exact-json.ts'
import type { Json, JsonObject } from './exact-json.ts'
import { readTime } from './time-model.ts'

/** What the model says of the limits; docs/FAILURES.md has the table. */
export const LIMITS = {
  levels: 100,
  digits: 1000,
  userIdBytes: 2000,
  recordCharacters: 16_000_000,
  rejectedRecords: 10_000,
  records: 1_000_000,
  reasonsOfARecord: 20,
} as const

/** A user as a row of `collab.users` shows it. */
export interface ModelUser {
  readonly userId: string
  readonly name: string | null
  readonly email: string | null
  /** Canonical JSON. */
  readonly raw: string
}

/** A comment as a row of `collab.comments` shows it. */
export interface ModelComment {
  readonly commentId: number
  readonly text: string | null
  readonly html: string | null
  readonly authorUserId: string | null
  readonly authorName: string | null
  readonly authorEmail: string | null
  readonly status: string | null
  readonly type: string | null
  /** Epoch milliseconds. */
  readonly lastUpdated: number | null
  readonly raw: string
  readonly author: ModelUser | null
}

/** The ids that an answer was asked for by. */
export interface Asked {
  readonly organizationId: string
  readonly documentId: string | null
  readonly annotationId: string | null
}

export type Item<T> =
  | { readonly record: T; readonly reasons: readonly string[] }
  | {
      /** Rejected as a whole. */
      readonly fault: string
      /** The id that stands in it, where only a limit kept it out: evidence that its record exists. */
      readonly id: string | null
    }

type Tell = (reason: string) => void

const COMMENT_TEXTS = { text: 'commentText', html: 'commentHtml', status: 'status', type: 'type' }
const COLUMNS: Readonly<Record<string, string>> = {
  commentText: 'comment_text',
  commentHtml: 'comment_html',
}

/** One item of a Get Comments answer (docs/SERVICE.md, Get Comments). */
export function commentOf(item: Json): Item<ModelComment> {
  const rejected = (fault: string) => ({ fault, id: null })
  if (item.end - item.start > LIMITS.recordCharacters)
    return { ...rejected(TOO_LONG), id: idIn(item) }
  const wrongKind = kindFault(item, 'comment')
  if (wrongKind !== null || item.kind !== 'object') return rejected(wrongKind ?? '')
  const id = item.members.get('commentId')
  if (id === undefined || id.kind === 'null') return rejected('commentId is missing')
  if (id.kind !== 'number') return rejected(`commentId is a ${typeName(id)}, not an integer`)
  const commentId = Number(id.text)
  if (!Number.isSafeInteger(commentId))
    return rejected('commentId is no integer between -(2^53 - 1) and 2^53 - 1')
  const reasons: string[] = []
  const tell: Tell = (reason) => void reasons.push(reason)
  const read: Read = new Map()
  const text = (name: string) => textOf(item, name, tell, COLUMNS[name] ?? name, name, read)
  const columns = {
    text: text(COMMENT_TEXTS.text),
    html: text(COMMENT_TEXTS.html),
    status: text(COMMENT_TEXTS.status),
    type: text(COMMENT_TEXTS.type),
  }
  const lastUpdated = timeOf(item, tell, read)
  const author = authorOf(item, tell)
  if (author.from !== null) read.set('from', author.from)
  const raw = prunedMembers(item, read, tell)
  // However it was written: the key is what a double makes of it.
  const key = raw.get('commentId')
  if (key?.kind === 'number') raw.set('commentId', { ...key, text: String(commentId) })
  return {
    record: {
      commentId: commentId === 0 ? 0 : commentId,
      ...columns,
      ...author.columns,
      lastUpdated,
      raw: canonical({ ...item, members: raw }),
      author: author.user,
    },
    reasons,
  }
}

/** One item of a Get Users answer (docs/SERVICE.md, Get Users). */
export function userOf(item: Json): Item<ModelUser> {
  const rejected = (fault: string) => ({ fault, id: null })
  if (item.end - item.start > LIMITS.recordCharacters) return rejected(TOO_LONG)
  const fault = userFault(item)
  if (fault !== null) return rejected(fault)
  const reasons: string[] = []
  const { user } = summaryOf(item as JsonObject, (reason) => void reasons.push(reason))
  return { record: user, reasons }
}

const TOO_LONG = 'the record is longer than 16,000,000 characters'

function idIn(item: Json): string | null {
  const id = item.kind === 'object' ? item.members.get('commentId') : undefined
  return id?.kind === 'number' ? String(Number(id.text)) : null
}

function kindFault(item: Json, what: string): string | null {
  if (item.kind === 'null') return `null where a ${what} belongs`
  if (item.kind === 'object') return null
  return `${item.kind === 'array' ? 'an array' : `a ${typeName(item)}`} where a ${what} belongs`
}

function userFault(item: Json): string | null {
  const wrongKind = kindFault(item, 'user')
  if (wrongKind !== null || item.kind !== 'object') return wrongKind
  const id = item.members.get('userId')
  if (id === undefined || id.kind === 'null') return 'userId is missing'
  if (id.kind !== 'string') return `userId is a ${typeName(id)}, not a string`
  if (id.text === '') return 'userId is empty'
  if (!isStorable(id.text)) return 'userId holds a character that PostgreSQL cannot hold'
  if (Buffer.byteLength(id.text) > LIMITS.userIdBytes) return 'userId is longer than 2,000 bytes'
  return null
}

function typeName(value: Json): string {
  if (value.kind === 'array') return 'object'
  return value.kind === 'true' || value.kind === 'false' ? 'boolean' : value.kind
}

/** Members that a column or `from` spoke of already, as raw shows them. */
type Read = Map<string, Json>

/** A text for its column; `read` gets it where it is not stored as received. */
function textOf(
  item: JsonObject,
  name: string,
  tell: Tell,
  column: string,
  shown: string,
  read: Read,
): string | null {
  const value = item.members.get(name)
  if (value === undefined || value.kind === 'null') return null
  if (value.kind === 'string') {
    if (isStorable(value.text)) return value.text
    tell(`${shown} ${UNSTORABLE}: ${column} is stored without them`)
    const text = storable(value.text)
    read.set(name, { ...value, text })
    return text
  }
  const kind = value.kind === 'array' ? 'an array' : `a ${typeName(value)}`
  tell(`${shown} is ${kind}, not a string: ${column} was set to null`)
  return null
}

function timeOf(item: JsonObject, tell: Tell, read: Read): number | null {
  const value = item.members.get('lastUpdated')
  if (value === undefined || value.kind === 'null') return null
  const text =
    value.kind === 'string'
      ? textOf(item, 'lastUpdated', tell, 'last_updated', 'lastUpdated', read)
      : null
  const time = value.kind === 'number' ? readTime(Number(value.text)) : readTime(text)
  // What the column cannot give back is in raw too, and reported there.
  if (time === null || new Date(time).toISOString() !== text) read.delete('lastUpdated')
  if (time === null) tell('lastUpdated is no readable time: last_updated was set to null')
  return time
}

interface Author {
  readonly columns: Pick<ModelComment, 'authorUserId' | 'authorName' | 'authorEmail'>
  readonly user: ModelUser | null
  /** What raw shows of `from`, where that is not what pruning leaves of it. */
  readonly from: Json | null
}

const NOBODY = { authorUserId: null, authorName: null, authorEmail: null }

function authorOf(item: JsonObject, tell: Tell): Author {
  const from = item.members.get('from')
  if (from === undefined) return { columns: NOBODY, user: null, from: null }
  const fault = userFault(from)
  if (fault !== null) {
    const id = from.kind === 'object' ? from.members.get('userId') : undefined
    if (from.kind === 'object' && (id === undefined || id.kind === 'null')) {
      const name = textOf(from, 'name', tell, 'author_name', 'from.name', new Map())
      const email = textOf(from, 'email', tell, 'author_email', 'from.email', new Map())
      const columns = { authorUserId: null, authorName: name, authorEmail: email }
      return { columns, user: null, from: null }
    }
    if (from.kind !== 'null') tell(`from: ${fault}: author_user_id was set to null`)
    return { columns: NOBODY, user: null, from: null }
  }
  const { user, isPlain, members } = summaryOf(from as JsonObject, (reason) =>
    tell(`from: ${reason}`),
  )
  return {
    columns: { authorUserId: user.userId, authorName: user.name, authorEmail: user.email },
    user,
    // What its columns give back as a whole is not checked again.
    from: isPlain ? { ...(from as JsonObject), members } : null,
  }
}

function summaryOf(item: JsonObject, tell: Tell) {
  const read: Read = new Map()
  const name = textOf(item, 'name', tell, 'name', 'name', read)
  const email = textOf(item, 'email', tell, 'email', 'email', read)
  const members = prunedMembers(item, read, tell)
  const userId = (members.get('userId') as { text: string }).text
  const isPlain = [...members].every(
    ([member, { kind }]) => ['userId', 'name', 'email'].includes(member) && kind === 'string',
  )
  const user = { userId, name, email, raw: canonical({ ...item, members }) }
  return { user, isPlain, members }
}

/** The members of a record that raw can hold. */
function prunedMembers(record: JsonObject, read: Read, tell: Tell): Map<string, Json> {
  const members = new Map(record.members)
  for (const name of read.keys()) members.delete(name)
  const reasons: string[] = []
  const prune = { ...record, members }
  const kept = pruned(prune, '', '', 0, (reason) => void reasons.push(reason)) as JsonObject
  const isMany = reasons.length > LIMITS.reasonsOfARecord
  for (const reason of isMany
    ? [`${reasons.length} members cannot be stored as received`]
    : reasons)
    tell(reason)
  for (const [name, value] of read) kept.members.set(name, value)
  return kept.members
}

function pruned(value: Json, name: string, path: string, level: number, tell: Tell): Json | null {
  const shown = path.replaceAll('\0', '\\u0000').toWellFormed()
  const isText = value.kind === 'string' && !isStorable(value.text)
  if (isText && !/(id|key)s?$/i.test(name) && !namesPeople(name)) {
    tell(`${shown} ${UNSTORABLE}: raw has it without them`)
    return { ...value, text: storable(value.text) }
  }
  if (isText || !isHoldable(value, level)) {
    tell(`${shown} cannot be stored: left out of raw`)
    return null
  }
  if (value.kind === 'array') {
    const items = value.items.map(
      (item, index) =>
        pruned(item, name, `${path}[${index}]`, level + 1, tell) ??
        ({ kind: 'null', start: 0, end: 0 } as const),
    )
    return { ...value, items }
  }
  if (value.kind !== 'object') return value
  const members = new Map<string, Json>()
  for (const [each, member] of value.members) {
    const at = path === '' ? each : `${path}.${each}`
    if (isStorable(each)) {
      const kept = pruned(member, each, at, level + 1, tell)
      if (kept !== null) members.set(each, kept)
    } else
      tell(`${at.replaceAll('\0', '\\u0000').toWellFormed()} cannot be stored: left out of raw`)
  }
  return { ...value, members }
}

function isHoldable(value: Json, level: number): boolean {
  if (value.kind === 'number') return magnitudeOf(value.text) <= LIMITS.digits
  return (value.kind !== 'array' && value.kind !== 'object') || level <= LIMITS.levels
}

function magnitudeOf(number: string): number {
  const [digits = '', exponent = '0'] = number.toLowerCase().split('e')
  return digits.length + Math.abs(Number(exponent))
}

/** PostgreSQL's text and jsonb hold neither a NUL nor half of a surrogate pair. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

const UNSTORABLE = 'holds characters that PostgreSQL cannot hold'

function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}
