import { namesPeople } from '../../base/columns.ts'
import { isLosslessNumber, stringify } from 'lossless-json'
import { COMMENT_COLUMN_LIST } from '../../base/columns.ts'
import { define, isEmpty, isObject, parseExact, pick } from '../../base/json.ts'
import type { Json } from '../../base/json.ts'
import type { ErasedPeople } from './people.ts'
import { pseudonymOfValue, redactNames, redactWords } from './redact-text.ts'

/** What is left out of every record before anything looks at it. */
export interface Redaction {
  /** Null keeps e-mail addresses; else what is stored in their place, null to leave them out. */
  readonly email: ((email: string) => string | null) | null
  /** False leaves out every member that service-api.md does not show. */
  readonly keepsUnknown: boolean
  /** Null where nobody is erased. */
  readonly erased: ErasedPeople | null
  /** How many texts that are JSON themselves this is within; none when left out. */
  readonly within?: number
}

/** JSON in a text in JSON, and so on: deeper it is searched as a text. */
const JSON_WITHIN_JSON_MAX = 3

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
/** What stands for an erased person (pseudonym.ts). */
const PSEUDONYM = /erased:[0-9a-f]{32}/
const LOOKS_LIKE_EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
/** Ends of members' names that say whom, and what they are called. */
const NAMES_AN_ID = /[-_]?(e[-_]?mail([-_]?address)?|(user[-_]?)?id|uid)s?$/i
const NAMES_A_NAME = /[-_]?((full|display|first|last|nick|user)[-_]?)?(name|label)$/i
/** Members that say no more than the one that holds their object. */
const IS_KEY = /^_?(id|ids|key|value)$/i
const NAMES_AN_EMAIL = /e[-_]?mail([-_]?address)?$/i
/** In place of a value: there is none, or nobody has said yet what it is. */
export const LEFT_OUT = Symbol('left out')

/** Words in which no whole value is looked for: a text as it is, but for addresses and unmistakable ids of erased people. */
export function redactMessage<T>(text: T, { erased }: Redaction): T | string {
  return typeof text === 'string' && erased !== null ? redactWords(text, erased) : text
}

/**
 * What stays of an erased person; null for anyone else. Who has a `userId` is known by it, and else by an `email`, or by an
 * `id` where the object stands for a person.
 */
export function erasedAs(person: Json, { erased }: Redaction, place: string): Json | null {
  if (erased === null) return null
  for (const name of ['userId', 'id']) {
    const id = person[name]
    if (typeof id !== 'string' && typeof id !== 'number' && !isLosslessNumber(id)) continue
    const isPerson = name === 'userId' || namesPeople(place)
    const pseudonym = pseudonymOfValue(String(id), erased, () => isPerson)
    if (pseudonym !== null && (isPerson || isNamed(person))) return { [name]: pseudonym }
    if (isPerson) return null
  }
  const { email } = person
  return typeof email === 'string' && erased.pseudonymOfEmail(email) !== null ? {} : null
}

function isNamed(person: Json): boolean {
  return Object.hasOwn(person, 'name') || Object.hasOwn(person, 'email')
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
  let speaksOfErased = false
  for (const [name, value] of Object.entries(item)) {
    const own = ruled(name, value)
    const redacted = own === LEFT_OUT ? redactMember(name, value, redaction, place) : own
    const newName = own === LEFT_OUT ? redactName(name, redaction, place) : name
    const isEmptied = isObject(redacted) && isEmpty(redacted) && !isEmpty(value as Json)
    const namesErased = tellsErased(newName) || (!WORDS.has(name) && tellsErased(redacted))
    speaksOfErased ||= namesErased || isEmptied
    if (redacted !== LEFT_OUT) define(kept, newName, redacted)
  }
  const { erased } = redaction
  return speaksOfErased && erased !== null ? withoutNames(kept, erased) : kept
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
  if (erased === null) return name
  return pseudonymOfValue(name, erased, () => namesPeople(place)) ?? redactWords(name, erased)
}

/** Whether a member itself, not something deeper, is an id or address of an erased person by now. */
function tellsErased(value: unknown): boolean {
  if (typeof value === 'string') return PSEUDONYM.test(value)
  if (Array.isArray(value))
    return value.some((item) => typeof item === 'string' && tellsErased(item))
  if (!isObject(value)) return false
  const names = Object.keys(value)
  return names.length === 1 && ['userId', 'id'].some((name) => tellsErased(value[name] ?? null))
}

/**
 * An object that holds an id or address of an erased person, without their names; but for words, and for the name of
 * somebody else who is named beside it: `reporterName` where there is a `reporterId` of another.
 */
function withoutNames(item: Json, erased: ErasedPeople): Json {
  const kept: Json = {}
  const whose = new Map<string, boolean>()
  for (const [name, value] of Object.entries(item)) {
    if (value === null || !NAMES_AN_ID.test(name)) continue
    const stem = name.replace(NAMES_AN_ID, '')
    whose.set(stem, tellsErased(value) || (whose.get(stem) ?? false))
  }
  for (const [name, value] of Object.entries(item)) {
    const isOthers = WORDS.has(name) || whose.get(name.replace(NAMES_A_NAME, '')) === false
    const clean = (text: unknown) =>
      typeof text === 'string' ? redactNames(text, erased, NAMES_A_NAME.test(name)) : text
    const own = Array.isArray(value) ? value.map(clean) : clean(value)
    define(kept, name, isOthers ? value : own)
  }
  return kept
}

function redactMember(name: string, value: unknown, redaction: Redaction, place: string): unknown {
  const isAddress = redaction.email !== null && value !== null && NAMES_AN_EMAIL.test(name)
  if (isAddress && typeof value !== 'string') return LEFT_OUT
  const redacted = redactValue(value, redaction, name, place)
  const isPlain = redacted === value && !PSEUDONYM.test(String(value))
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
  const isAboutPeople = () => namesPeople(name) || (IS_KEY.test(name) && namesPeople(place))
  if (typeof value === 'string') return redactString(value, redaction, isAboutPeople)
  if (typeof value === 'number' || isLosslessNumber(value)) {
    const { erased } = redaction
    const number = erased && isAboutPeople() ? erased.pseudonymOf(String(value)) : null
    return number ?? value
  }
  if (Array.isArray(value)) {
    return value
      .map((item) => redactValue(item, redaction, name, place))
      .filter((item) => item !== LEFT_OUT)
  }
  if (!isObject(value)) return value
  return (
    bareComment(value, redaction) ??
    erasedAs(value, redaction, name) ??
    redactMembers(value, redaction, () => LEFT_OUT, name)
  )
}

function redactString(text: string, redaction: Redaction, isAboutPeople: () => boolean): unknown {
  const { erased, email } = redaction
  const found = erased && (pseudonymOfValue(text, erased, isAboutPeople) ?? inJson(text, redaction))
  if (erased !== null) {
    const redacted = found ?? redactWords(text, erased)
    if (redacted !== text || PSEUDONYM.test(text)) return redacted
  }
  if (email === null || !LOOKS_LIKE_EMAIL.test(text)) return text
  return email(text) ?? LEFT_OUT
}

/** A text that is JSON itself, redacted as that; null where it is none, or nothing in it changes. */
function inJson(received: string, redaction: Redaction): string | null {
  const text = received.replaceAll('\0', '')
  const within = redaction.within ?? 0
  if (within >= JSON_WITHIN_JSON_MAX || !/^\s*[[{]/.test(text)) return null
  try {
    const value = parseExact(text)
    const inner = { ...redaction, email: null, within: within + 1 }
    const redacted = stringify(redactValue(value, inner, '', '')) as string
    return redacted === stringify(value) ? null : redacted
  } catch {
    return null
  }
}
