import { isLosslessNumber } from 'lossless-json'
import { NESTING_MAX, NUMBER_MAGNITUDE_MAX, isStorable, storable } from '../../documents/check.ts'
import { define, parseExact, pick } from '../../privacy/json.ts'
import type { Json } from '../../privacy/json.ts'
import { namesPeople } from '../../privacy/redact-text.ts'
import { readTimestamp } from '../../timestamp.ts'
import { canonicalJson } from './digest.ts'

/**
 * The part of a record that its columns cannot give back, as canonical JSON text for `rest`; null when there is none. A
 * digest takes it as it is: the order of its members is not content, and every digit of its numbers is.
 * @param members members to keep, as parsed
 * @param exactText the record's own text where it may hold numbers that a double cannot; null where it holds none
 * @param reject called with the reason where PostgreSQL cannot hold a member as received: once for each, but once for all
 *   where they are many. A text is kept without the characters at fault, everything else is left out.
 */
export function restOf(
  members: Record<string, unknown>,
  exactText: () => string | null,
  reject: (reason: string) => void,
): string | null {
  const names = Object.keys(members)
  if (names.length === 0) return null
  const text = exactText()
  const exact = text === null ? members : pick(parseExact(text) as Json, names)
  const reasons: string[] = []
  let count = 0
  const kept = storablePart(exact, { name: '', path: '', depth: 0 }, (reason) => {
    count += 1
    if (count <= REASONS_MAX) reasons.push(reason)
  }) as Record<string, unknown>
  if (count > REASONS_MAX) reject(`${count} members cannot be stored as received`)
  else for (const reason of reasons) reject(reason)
  return Object.keys(kept).length === 0 ? null : canonicalJson(kept)
}

/** Members of one record that are reported one by one: each has a row with the whole record in it. */
const REASONS_MAX = 20

/** Of a path that is reported; names of members may be of any length. */
const PATH_UNITS_MAX = 1000

/** Where a value is in its record. */
interface Position {
  /** Of the innermost member that holds it. */
  readonly name: string
  readonly path: string
  readonly depth: number
}

/** The part of a value that PostgreSQL can hold; undefined where it is left out as a whole. */
function storablePart(value: unknown, at: Position, reject: (reason: string) => void): unknown {
  if (typeof value === 'string') {
    if (isStorable(value)) return value
    if (mayBeId(at.name)) return leaveOut(at.path, reject)
    reject(`${shown(at.path)} ${UNSTORABLE}: raw has it without them`)
    return storable(value)
  }
  if (isLosslessNumber(value))
    return magnitudeOf(value.value) > NUMBER_MAGNITUDE_MAX ? leaveOut(at.path, reject) : value
  if (typeof value !== 'object' || value === null) return value
  if (at.depth > NESTING_MAX) return leaveOut(at.path, reject)
  const depth = at.depth + 1
  if (Array.isArray(value))
    return value.map((item, index) => {
      const path = `${at.path}[${index}]`
      return storablePart(item, { name: at.name, path, depth }, reject) ?? null
    })
  const kept: Json = {}
  for (const [name, member] of Object.entries(value)) {
    const path = at.path === '' ? name : `${at.path}.${name}`
    const part = isStorable(name)
      ? storablePart(member, { name, path, depth }, reject)
      : leaveOut(path, reject)
    if (part !== undefined) define(kept, name, part)
  }
  return kept
}

function leaveOut(path: string, reject: (reason: string) => void): undefined {
  reject(`${shown(path)} cannot be stored: left out of raw`)
}

function shown(path: string): string {
  return path.slice(0, PATH_UNITS_MAX).replaceAll('\0', '\\u0000').toWellFormed()
}

/** An ID without one of its characters is the ID of something else. */
function mayBeId(name: string): boolean {
  return /(id|key)s?$/i.test(name) || namesPeople(name)
}

const UNSTORABLE = 'holds characters that PostgreSQL cannot hold'

function magnitudeOf(number: string): number {
  const [digits = '', exponent = '0'] = number.toLowerCase().split('e')
  return digits.length + Math.abs(Number(exponent))
}

/**
 * A text member for its column. What is no text stays in `rest`, so that raw gives it back;
 * of a text that PostgreSQL cannot hold as received the readable rest is stored, and it is reported. IDs are not read by this.
 */
export function textColumn(
  name: string,
  value: unknown,
  rest: Record<string, unknown>,
  reject: (reason: string) => void,
  column = name,
): string | null {
  if (value === undefined) return null
  if (typeof value === 'string') return readable(name, value, reject, column)
  rest[name] = value
  if (value !== null) {
    reject(
      `${name} is ${Array.isArray(value) ? 'an array' : `a ${typeof value}`}, not a string: ${column} was set to null`,
    )
  }
  return null
}

function readable(
  name: string,
  text: string,
  reject: (reason: string) => void,
  column: string,
): string {
  if (isStorable(text)) return text
  reject(`${name} ${UNSTORABLE}: ${column} is stored without them`)
  return storable(text)
}

/** A time member for its column, as textColumn has texts; one in another form than the column gives back is in `rest` too. */
export function timeColumn(
  name: string,
  received: unknown,
  rest: Record<string, unknown>,
  tell: (reason: string) => void,
  column: string,
): string | null {
  if (received === undefined) return null
  const value = typeof received === 'string' ? readable(name, received, tell, column) : received
  const time = readTimestamp(value)
  if (time === null) {
    if (value !== null) tell(`${name} is no readable time: ${column} was set to null`)
    rest[name] = received
    return null
  }
  if (!time.isExact) rest[name] = received
  return time.iso
}

/** Members that the document does not show: usually none, and then nothing is copied. */
export function otherMembers(
  item: Record<string, unknown>,
  documented: ReadonlySet<string>,
): Record<string, unknown> {
  for (const name in item) {
    if (documented.has(name)) continue
    // Entries are defined, not assigned: a member named `__proto__` is a member like any other.
    return Object.fromEntries(Object.entries(item).filter(([member]) => !documented.has(member)))
  }
  return {}
}
