import { isLosslessNumber, stringify } from 'lossless-json'
import { COMMENT_COLUMN_LIST, COMMENT_PEOPLE, RECORDS, namesPeople } from '../../base/columns.ts'
import { define, isObject, parseExact, pick } from '../../base/json.ts'
import type { Json } from '../../base/json.ts'
import type { RecordName } from '../../base/operations.ts'
import { replaceAddresses, wholeAddress } from './address.ts'
import type { ErasedPeople } from './people.ts'
import { PSEUDONYM, pseudonymOfValue, redactString, redactWords } from './redact-text.ts'

/** What is left out of every record before anything is compared or stored. */
export interface Redaction {
  /** Null keeps e-mail addresses; else what is stored in their place, null to leave them out. */
  readonly email: ((email: string) => string | null) | null
  /** False leaves out every member that docs/SERVICE.md does not show. */
  readonly keepsUnknown: boolean
  /** Null if no person is erased. */
  readonly erased: ErasedPeople | null
}

/** Words of a comment's author: the members, and the columns that keep them. */
const WORDS: ReadonlySet<string> = new Set(
  COMMENT_COLUMN_LIST.filter(({ personal }) => personal === 'words').flatMap(
    ({ member, column }) => [member ?? column, column],
  ),
)
/** Members that an erased person's comment keeps if they are texts. */
const STATES: ReadonlySet<string> = new Set(
  COMMENT_COLUMN_LIST.flatMap(({ personal, member }) =>
    personal === 'state' && member !== null ? [member] : [],
  ),
)
/** Members that hold a person of a comment. */
const PEOPLE: ReadonlySet<string> = new Set(COMMENT_PEOPLE.map(({ member }) => member))
/** Those that stay of an erased author's comment, beside its number and the pseudonym. */
export const STAYING: ReadonlySet<string> = new Set(
  [...STATES, ...PEOPLE].filter((member) => member !== 'from'),
)
/** In place of a name beside an id or address of an erased person. */
const ERASED_NAME = 'erased'
const NAMES_AN_EMAIL = /e[-_]?mail([-_]?address)?$/i
/** Members whose meaning comes from the member that holds their object. */
const IS_KEY = /^_?(id|ids|key|value)$/i
/** In place of a value: the value is left out, or the member has no rule of its own. */
const LEFT_OUT = Symbol('left out')

/**
 * A received comment without what may not be stored. A comment by an erased person loses its words. In comments of other
 * users, only addresses of an erased person and ids in URLs are replaced.
 */
export function redactComment(item: unknown, redaction: Redaction): unknown {
  if (!isObject(item)) return redactOther(item, redaction)
  const bare = bareComment(item, redaction)
  if (bare !== null) return bare
  return redactFields('comment', item, redaction, (name, value) => {
    if (PEOPLE.has(name) && isObject(value)) return redactUser(value, redaction, 'person')
    return WORDS.has(name) || STATES.has(name) ? redactMessage(value, redaction) : LEFT_OUT
  })
}

/**
 * A received user, of a listing or of a comment, without what may not be stored.
 * @param place `person` in a comment
 */
export function redactUser(item: unknown, redaction: Redaction, place = ''): unknown {
  if (!isObject(item)) return redactOther(item, redaction)
  const erased = erasedAs(item, redaction, place)
  if (erased !== null) return erased
  return redactFields('user', item, redaction)
}

/** A received item of an operation, without what may not be stored. */
export function redactItem(record: RecordName, item: unknown, redaction: Redaction): unknown {
  const { redacted } = RECORDS[record]
  if (redacted === 'person') return redactUser(item, redaction)
  if (redacted === 'authored') return redactComment(item, redaction)
  return isObject(item) ? redactFields(record, item, redaction) : redactOther(item, redaction)
}

/** @param ruled as in redactMembers; without it, the record's ID stays, because it identifies the record */
function redactFields(
  record: RecordName,
  item: Json,
  redaction: Redaction,
  ruled = (name: string, value: unknown): unknown =>
    name === RECORDS[record].key && typeof value === 'string' ? value : LEFT_OUT,
): Json {
  const kept = redaction.keepsUnknown ? item : pick(item, RECORDS[record].members)
  return redactMembers(kept, redaction, '', ruled)
}

/** An item that is no object is stored as a rejected record, and may be an address. */
function redactOther(item: unknown, redaction: Redaction): unknown {
  const redacted = redactValue(item, redaction, '', '')
  return redacted === LEFT_OUT ? null : redacted
}

/** The text columns of a table's row. An array `path` has the names that lead to a member of a record. */
export function redactRow(row: object, redaction: Redaction): Record<string, unknown> {
  return redactMembers(row as Json, redaction, '', (name, value) => {
    if (name === 'path' && Array.isArray(value)) return redactPath(value, redaction)
    if (WORDS.has(name)) return redactMessage(value, redaction)
    return typeof value === 'string' ? redactJson(value, redaction) : LEFT_OUT
  })
}

/** A comment's words or a message of the service, which are never an id as a whole. */
export function redactMessage<T>(text: T, { erased }: Redaction): T | string {
  return typeof text === 'string' && erased !== null ? redactWords(text, erased) : text
}

/**
 * What stays of the object of an erased person; null for any other object. A person is known by `userId`, by `id` if the
 * member that holds the object names people, or by `email` if the object has neither.
 * @param place the name of the member that holds the object
 */
function erasedAs(person: Json, { erased }: Redaction, place: string): Json | null {
  if (erased === null) return null
  for (const name of namesPeople(place) ? ['userId', 'id'] : ['userId']) {
    const id = person[name]
    if (typeof id !== 'string' && !isNumber(id)) continue
    const pseudonym = pseudonymOfValue(String(id), erased, true)
    return pseudonym === null ? null : { [name]: pseudonym }
  }
  const { email } = person
  return typeof email === 'string' && erased.pseudonymOfEmail(email) !== null ? {} : null
}

/** What stays of a comment by an erased person, with its other people; null if its author is not erased. */
function bareComment(comment: Json, redaction: Redaction): Json | null {
  const { from } = comment
  const author = isObject(from) ? erasedAs(from, redaction, 'person') : null
  if (author === null) return null
  const bare = pick(comment, ['commentId', ...STAYING])
  for (const [name, value] of Object.entries(bare)) {
    if (PEOPLE.has(name) && isObject(value)) bare[name] = redactUser(value, redaction, 'person')
    else if (STATES.has(name) && typeof value === 'string')
      bare[name] = redactMessage(value, redaction)
    // A value of another type may be anything, words too.
    else if (name !== 'commentId' || !isNumber(value)) delete bare[name]
  }
  return Object.keys(author).length === 0 ? bare : { ...bare, from: author }
}

/**
 * @param place the name of the member that holds the object
 * @param ruled gives the value of members that have a rule of their own, LEFT_OUT for all others
 */
function redactMembers(
  item: Json,
  redaction: Redaction,
  place: string,
  ruled: (name: string, value: unknown) => unknown = () => LEFT_OUT,
): Json {
  const { erased } = redaction
  const members = Object.entries(item).flatMap(([name, value]) => {
    const own = ruled(name, value)
    if (own !== LEFT_OUT) return [{ name, value: own, isRuled: true }]
    const redacted = redactValue(value, redaction, name, place)
    if (redacted === LEFT_OUT) return []
    const stored = redactName(name, redaction, place)
    return stored === null ? [] : [{ name: stored, value: redacted, isRuled: false }]
  })
  const hasPerson =
    erased !== null &&
    members.some(
      ({ name, value }) => !WORDS.has(name) && (PSEUDONYM.test(name) || namesErased(value)),
    )
  const kept: Json = {}
  for (const { name, value, isRuled } of members)
    define(kept, name, hasPerson && !isRuled ? withoutNames(value, erased) : value)
  return kept
}

/** Whether a redacted value is an id or address of an erased person, a list with one, or the object of that person. */
function namesErased(value: unknown): boolean {
  const values = isObject(value) ? [value['userId'], value['id']] : [value].flat()
  return values.some((each) => typeof each === 'string' && PSEUDONYM.test(each))
}

function withoutNames(value: unknown, erased: ErasedPeople): unknown {
  const clean = (each: unknown) =>
    typeof each === 'string' && erased.hasName(each) ? ERASED_NAME : each
  return Array.isArray(value) ? value.map(clean) : clean(value)
}

/** Names of members that lead from a record to one of its values, each as it is redacted in the record; `[]` is an array. */
function redactPath(path: readonly unknown[], redaction: Redaction): unknown[] {
  let place = ''
  return path.map((name) => {
    if (typeof name !== 'string' || name === '[]') return name
    const redacted = redactName(name, redaction, place) ?? ''
    place = name
    return redacted
  })
}

/** A member's name may be an id or an address too: `{"readBy": {"user-17": ...}}`. Null if the member is left out. */
function redactName(name: string, redaction: Redaction, place: string): string | null {
  const { erased } = redaction
  const redacted = erased === null ? name : redactString(name, erased, namesPeople(place))
  return redactEmails(redacted, redaction, false)
}

/**
 * A text as `PRIVACY_EMAIL` has it stored; null to leave it out.
 * @param isEmail whether the member that holds the text is named like an address
 */
function redactEmails(text: string, { email }: Redaction, isEmail: boolean): string | null {
  if (email === null) return text
  const whole = wholeAddress(text) ?? (isEmail && !PSEUDONYM.test(text) ? text : null)
  return whole === null ? replaceAddresses(text, (found) => withinText(found, email)) : email(whole)
}

/** What replaces an address within a text: nothing if addresses are left out. */
function withinText(found: string, email: (email: string) => string | null): string | null {
  return wholeAddress(found) === null ? null : (email(found) ?? '')
}

/**
 * @param name of the member that holds the value
 * @param place of the member that holds the object with that member
 */
function redactValue(value: unknown, redaction: Redaction, name: string, place: string): unknown {
  const { erased, email } = redaction
  const isEmail = email !== null && value !== null && NAMES_AN_EMAIL.test(name)
  if (isEmail && typeof value !== 'string') return LEFT_OUT
  if (Array.isArray(value)) {
    return value
      .map((item) => redactValue(item, redaction, name, place))
      .filter((item) => item !== LEFT_OUT)
  }
  if (isObject(value)) {
    return (
      bareComment(value, redaction) ??
      erasedAs(value, redaction, name) ??
      redactMembers(value, redaction, name)
    )
  }
  const isAboutPeople = namesPeople(name) || (IS_KEY.test(name) && namesPeople(place))
  if (typeof value !== 'string') {
    return (isNumber(value) && isAboutPeople ? erased?.pseudonymOf(String(value)) : null) ?? value
  }
  const redacted = erased === null ? value : redactString(value, erased, isAboutPeople)
  return redactEmails(redacted, redaction, isEmail) ?? LEFT_OUT
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || isLosslessNumber(value)
}

const JSON_STRING = /"[^"\\\p{Cc}]*(?:\\(?:["\\/bfnrt]|u[\da-f]{4})[^"\\\p{Cc}]*)*"/giu

/** A column whose text is JSON, such as a rejected record or the data of a job, redacted as JSON; LEFT_OUT for other texts. */
function redactJson(text: string, redaction: Redaction): unknown {
  const { erased } = redaction
  if (erased === null || !/^\s*[[{]/.test(text)) return LEFT_OUT
  try {
    const value = parseExact(text)
    const redacted = stringify(redactValue(value, redaction, '', ''))
    return redacted === stringify(value) ? text : redacted
  } catch {
    // A rejected record may be cut off: each whole string is redacted as a value, and the remainder as words.
    const cut = text.replace(JSON_STRING, (quoted) => {
      const value = JSON.parse(quoted) as string
      const redacted = redactString(value, erased, false)
      return redacted === value ? quoted : JSON.stringify(redacted)
    })
    return redactWords(cut, erased)
  }
}
