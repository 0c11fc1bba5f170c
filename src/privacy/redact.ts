import { isLosslessNumber, parse, stringify } from 'lossless-json'
import type { ErasedPeople } from './people.ts'

/** What is left out of every record before anything looks at it. */
export interface Redaction {
  /** Null keeps e-mail addresses; else what is stored in their place, null to leave them out. */
  readonly email: ((email: string) => string | null) | null
  /** False leaves out every member that service-api.md does not show. */
  readonly keepsUnknown: boolean
  /** Null where nobody is erased. */
  readonly erased: ErasedPeople | null
}

type Json = Record<string, unknown>

/** service-api.md, Comment. */
const COMMENT_MEMBERS = [
  'commentId',
  'commentText',
  'commentHtml',
  'from',
  'lastUpdated',
  'status',
  'type',
] as const
/** service-api.md, User summary. */
const USER_MEMBERS = ['userId', 'name', 'email'] as const
/** What stays of an erased person's comment: that it is there, its place, its time, its state; no words. */
const BARE_COMMENT_MEMBERS = ['commentId', 'lastUpdated', 'status', 'type'] as const

/**
 * A comment as received, without what may not be stored. What is no object passes as it is.
 * The words of a comment are its author's: they are emptied when the author is erased, and left, also where they speak of
 * an erased person, when the author is somebody else.
 */
export function redactComment(item: unknown, redaction: Redaction): unknown {
  if (!isObject(item)) return item
  const { from } = item
  const author = isObject(from) ? erasedAs(from, redaction) : null
  if (author !== null) return bareComment(item, author)
  const kept = redaction.keepsUnknown ? item : pick(item, COMMENT_MEMBERS)
  return redactMembers(kept, redaction, (name, value) =>
    name === 'from' ? redactUser(value, redaction) : WORDS.has(name) ? value : LEFT_OUT,
  )
}

/** A user as received, in a listing or as `from`, without what may not be stored. What is no object passes as it is. */
export function redactUser(item: unknown, redaction: Redaction): unknown {
  if (!isObject(item)) return item
  const erased = erasedAs(item, redaction)
  if (erased !== null) return erased
  const kept = redaction.keepsUnknown ? item : pick(item, USER_MEMBERS)
  return redactMembers(kept, redaction, (name, value) => (name === 'userId' ? value : LEFT_OUT))
}

/** Members that the columns do not hold, at any depth, without erased people and what may not be stored of e-mails. */
export function redactMembersOf(item: object, redaction: Redaction): Record<string, unknown> {
  return redactMembers(item as Json, redaction, () => LEFT_OUT)
}

/** The text of a record, as its object is redacted; numbers keep every digit. */
export function redactText(text: string, redact: (item: unknown) => unknown): string {
  // Of two members with one name JSON.parse takes the last.
  const exact = parse(text, null, { onDuplicateKey: ({ newValue }) => newValue })
  return stringify(redact(exact)) ?? ''
}

const WORDS: ReadonlySet<string> = new Set(['commentText', 'commentHtml'])
const LOOKS_LIKE_EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
const NAMES_AN_EMAIL = /e[-_]?mail([-_]?address)?$/i
/** In place of a value: there is none, or nobody has said yet what it is. */
const LEFT_OUT = Symbol('left out')

/** What stays of an erased person; null for anyone else. */
function erasedAs(person: Json, { erased }: Redaction): Json | null {
  if (erased === null) return null
  const { userId, email } = person
  if (typeof userId === 'string') {
    const pseudonym = erased.pseudonymOf(userId)
    return pseudonym === null ? null : { userId: pseudonym }
  }
  return typeof email === 'string' && erased.hasEmail(email) ? {} : null
}

function bareComment(comment: Json, author: Json): Json {
  const bare = pick(comment, BARE_COMMENT_MEMBERS)
  for (const name of ['status', 'type', 'lastUpdated']) {
    // A state or a time that is no text may be anything, words too.
    if (typeof bare[name] !== 'string') delete bare[name]
  }
  return Object.keys(author).length === 0 ? bare : { ...bare, from: author }
}

/** @param ruled gives the value of members that have a rule of their own, LEFT_OUT for all others */
function redactMembers(
  item: Json,
  redaction: Redaction,
  ruled: (name: string, value: unknown) => unknown,
): Json {
  const kept: Json = {}
  for (const [name, value] of Object.entries(item)) {
    const own = ruled(name, value)
    const redacted = own === LEFT_OUT ? redactMember(name, value, redaction) : own
    if (redacted === LEFT_OUT) continue
    // Defined, not assigned: a member named `__proto__` is a member like any other.
    Object.defineProperty(kept, name, {
      value: redacted,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return kept
}

function redactMember(name: string, value: unknown, redaction: Redaction): unknown {
  if (redaction.email === null || value === null || !NAMES_AN_EMAIL.test(name))
    return redactValue(value, redaction)
  return typeof value === 'string' ? (redaction.email(value) ?? LEFT_OUT) : LEFT_OUT
}

function redactValue(value: unknown, redaction: Redaction): unknown {
  if (typeof value === 'string') return redactString(value, redaction)
  if (Array.isArray(value)) {
    return value.map((item) => redactValue(item, redaction)).filter((item) => item !== LEFT_OUT)
  }
  if (!isObject(value)) return value
  return erasedAs(value, redaction) ?? redactMembersOf(value, redaction)
}

function redactString(text: string, { erased, email }: Redaction): unknown {
  const pseudonym = erased?.pseudonymOf(text) ?? null
  if (pseudonym !== null) return pseudonym
  if (email === null || !LOOKS_LIKE_EMAIL.test(text)) return text
  return email(text) ?? LEFT_OUT
}

function pick(item: Json, names: readonly string[]): Json {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]]),
  )
}

function isObject(value: unknown): value is Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return !isLosslessNumber(value)
}
