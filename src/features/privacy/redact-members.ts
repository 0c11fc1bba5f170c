import { isLosslessNumber, stringify } from 'lossless-json'
import { COMMENT_COLUMN_LIST, namesPeople } from '../../base/columns.ts'
import { define, isObject, parseExact, pick } from '../../base/json.ts'
import type { Json } from '../../base/json.ts'
import type { ErasedPeople } from './people.ts'
import { pseudonymOfValue, redactWords } from './redact-text.ts'

/** What is left out of every record before anything is compared or stored. */
export interface Redaction {
  /** Null keeps e-mail addresses; else what is stored in their place, null to leave them out. */
  readonly email: ((email: string) => string | null) | null
  /** False leaves out every member that service-api.md does not show. */
  readonly keepsUnknown: boolean
  /** Null where nobody is erased. */
  readonly erased: ErasedPeople | null
}

/** Words of a comment's author: the members, and the columns that keep them. */
export const WORDS: ReadonlySet<string> = new Set(
  COMMENT_COLUMN_LIST.filter(({ personal }) => personal === 'words').flatMap(
    ({ member, column }) => [member ?? column, column],
  ),
)
/** Members that an erased person's comment keeps, as far as they are texts. */
export const STATES: ReadonlySet<string> = new Set(
  COMMENT_COLUMN_LIST.flatMap(({ personal, member }) =>
    personal === 'state' && member !== null ? [member] : [],
  ),
)
/** What stays of an erased person's comment: that it is there, its place, its time, its state; no words. */
const BARE_COMMENT_MEMBERS = ['commentId', ...STATES]
/** What stands for an erased person (people.ts). */
const PSEUDONYM = /erased:[0-9a-f]{32}/
/** In place of a name beside an id or address of an erased person. */
const ERASED_NAME = 'erased'
const LOOKS_LIKE_EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
const NAMES_AN_EMAIL = /e[-_]?mail([-_]?address)?$/i
/** Members that say no more than the one that holds their object. */
const IS_KEY = /^_?(id|ids|key|value)$/i
/** In place of a value: the value is left out, or the member has no rule of its own. */
export const LEFT_OUT = Symbol('left out')

/** A text of which no whole value counts, such as a comment or a message of the service, without addresses and URLs of erased people. */
export function redactMessage<T>(text: T, { erased }: Redaction): T | string {
  return typeof text === 'string' && erased !== null ? redactWords(text, erased) : text
}

/**
 * What stays of the object of an erased person; null for any other object. A person is known by `userId`, by `id` where the
 * member that holds the object names people, or by `email` where there is neither.
 * @param place the name of the member that holds the object
 */
export function erasedAs(person: Json, { erased }: Redaction, place: string): Json | null {
  if (erased === null) return null
  for (const name of namesPeople(place) ? ['userId', 'id'] : ['userId']) {
    const id = person[name]
    if (typeof id !== 'string' && typeof id !== 'number' && !isLosslessNumber(id)) continue
    const pseudonym = pseudonymOfValue(String(id), erased, true)
    return pseudonym === null ? null : { [name]: pseudonym }
  }
  const { email } = person
  return typeof email === 'string' && erased.pseudonymOfEmail(email) !== null ? {} : null
}

/** Of a comment by an erased person its place, its time and its state; null where its author is not erased. */
export function bareComment(comment: Json, redaction: Redaction): Json | null {
  const { from } = comment
  const author = isObject(from) ? erasedAs(from, redaction, 'author') : null
  if (author === null) return null
  const bare = pick(comment, BARE_COMMENT_MEMBERS)
  for (const name of STATES) {
    // A state or a time that is no text may be anything, words too.
    if (typeof bare[name] === 'string') bare[name] = redactMessage(bare[name], redaction)
    else delete bare[name]
  }
  return Object.keys(author).length === 0 ? bare : { ...bare, from: author }
}

/**
 * @param ruled gives the value of members that have a rule of their own, LEFT_OUT for all others
 * @param place the name of the member that holds the object
 */
export function redactMembers(
  item: Json,
  redaction: Redaction,
  ruled: (name: string, value: unknown) => unknown,
  place = '',
): Json {
  const kept: Json = {}
  const ruledNames = new Set<string>()
  for (const [name, value] of Object.entries(item)) {
    const own = ruled(name, value)
    if (own !== LEFT_OUT) ruledNames.add(name)
    const redacted = own === LEFT_OUT ? redactMember(name, value, redaction, place) : own
    const newName = own === LEFT_OUT ? redactName(name, redaction, place) : name
    if (redacted !== LEFT_OUT) define(kept, newName, redacted)
  }
  return withoutNames(kept, redaction, ruledNames)
}

/** Names of members that lead from a record to one of its values, each as it is redacted in the record; `[]` is an array. */
export function redactPath(path: readonly unknown[], redaction: Redaction): unknown[] {
  let place = ''
  return path.map((name) => {
    if (typeof name !== 'string' || name === '[]') return name
    const redacted = redactName(name, redaction, place)
    place = name
    return redacted
  })
}

/** A member's name may be an id or an address too: `{"readBy": {"user-17": ...}}`. */
function redactName(name: string, { erased }: Redaction, place: string): string {
  return erased === null ? name : redactString(name, erased, namesPeople(place))
}

/** An object that holds an id or address of an erased person, without the names of erased people. */
function withoutNames(item: Json, { erased }: Redaction, ruledNames: Set<string>): Json {
  const members = Object.entries(item)
  const free = members.filter(([name]) => !WORDS.has(name))
  if (erased === null || !free.some((member) => member.some(namesErased))) return item
  const clean = (value: unknown) =>
    typeof value === 'string' && erased.hasName(value) ? ERASED_NAME : value
  const kept: Json = {}
  for (const [name, value] of members) {
    const redacted = Array.isArray(value) ? value.map(clean) : clean(value)
    define(kept, name, ruledNames.has(name) ? value : redacted)
  }
  return kept
}

/** Whether a member is an id or address of an erased person by now, a list with one, or the object of that person. */
function namesErased(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => PSEUDONYM.test(textOf(item)))
  if (isObject(value)) return ['userId', 'id'].some((name) => PSEUDONYM.test(textOf(value[name])))
  return PSEUDONYM.test(textOf(value))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function redactMember(name: string, value: unknown, redaction: Redaction, place: string): unknown {
  const isAddress = redaction.email !== null && value !== null && NAMES_AN_EMAIL.test(name)
  if (isAddress && typeof value !== 'string') return LEFT_OUT
  const redacted = redactValue(value, redaction, name, place)
  const isPlain = redacted === value && !PSEUDONYM.test(textOf(value))
  return isAddress && isPlain ? (redaction.email?.(value as string) ?? LEFT_OUT) : redacted
}

/**
 * @param name of the member that holds the value
 * @param place of the member that holds the object with that member
 */
export function redactValue(
  value: unknown,
  redaction: Redaction,
  name: string,
  place: string,
): unknown {
  const { erased, email } = redaction
  if (Array.isArray(value)) {
    return value
      .map((item) => redactValue(item, redaction, name, place))
      .filter((item) => item !== LEFT_OUT)
  }
  if (isObject(value)) {
    return (
      bareComment(value, redaction) ??
      erasedAs(value, redaction, name) ??
      redactMembers(value, redaction, () => LEFT_OUT, name)
    )
  }
  const isAboutPeople = namesPeople(name) || (IS_KEY.test(name) && namesPeople(place))
  if (typeof value !== 'string') {
    const isNumber = typeof value === 'number' || isLosslessNumber(value)
    return (isNumber && isAboutPeople ? erased?.pseudonymOf(String(value)) : null) ?? value
  }
  const redacted = erased === null ? value : redactString(value, erased, isAboutPeople)
  const isPlain = redacted === value && !PSEUDONYM.test(value)
  return email !== null && isPlain && LOOKS_LIKE_EMAIL.test(value)
    ? (email(value) ?? LEFT_OUT)
    : redacted
}

function redactString(text: string, erased: ErasedPeople, isAboutPeople: boolean): string {
  const value = text.replaceAll('\0', '')
  return pseudonymOfValue(value, erased, isAboutPeople) ?? redactWords(text, erased)
}

const JSON_STRING = /"[^"\\\p{Cc}]*(?:\\(?:["\\/bfnrt]|u[\da-f]{4})[^"\\\p{Cc}]*)*"/giu

/** A column whose text is JSON, such as a rejected record or the data of a job, redacted as JSON; LEFT_OUT for other texts. */
export function redactJson(text: string, redaction: Redaction): unknown {
  const { erased } = redaction
  if (erased === null || !/^\s*[[{]/.test(text)) return LEFT_OUT
  try {
    const value = parseExact(text)
    const redacted = stringify(redactValue(value, redaction, '', ''))
    return redacted === stringify(value) ? text : redacted
  } catch {
    // A rejected record may be cut off: what is left of it are whole strings, and words.
    const cut = text.replace(JSON_STRING, (quoted) => {
      const value = JSON.parse(quoted) as string
      const redacted = redactString(value, erased, false)
      return redacted === value ? quoted : JSON.stringify(redacted)
    })
    return redactWords(cut, erased)
  }
}
