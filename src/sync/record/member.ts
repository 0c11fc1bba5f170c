import { isLosslessNumber } from 'lossless-json'
import { NESTING_MAX, NUMBER_MAGNITUDE_MAX, isStorable } from '../../documents/check.ts'
import { define, isObject, parseExact, pick } from '../../privacy/json.ts'
import type { Json } from '../../privacy/json.ts'
import { canonicalJson } from './digest.ts'

/**
 * What the document shows, and `Date.prototype.toISOString` writes: such a text needs no copy in `rest`. Of a day that is in
 * every year, so that it is known without a Date, whose making and writing was a tenth of what reading a comment costs.
 */
const USUAL =
  /^(?!0000)\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
const ISO_8601 =
  /^(?!0000)\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$/i
const HAS_ZONE = /(Z|[+-]\d\d(:?\d\d)?)$/i

/** Years that both JavaScript and PostgreSQL write with four digits. */
const MS_MIN = Date.parse('0001-01-01T00:00:00.000Z')
const MS_MAX = Date.parse('9999-12-31T23:59:59.999Z')

export interface Timestamp {
  /** ISO 8601 in UTC with milliseconds. */
  readonly iso: string
  /** True where `iso` is the very text that was received. */
  readonly isExact: boolean
}

/**
 * Reads `lastUpdated`: ISO 8601, in UTC where it names no zone; a number is epoch milliseconds
 * (service-api.md, Resources, shows ISO 8601 UTC with milliseconds; the rest is leniency).
 * @returns null for what is no time
 */
export function readTimestamp(value: unknown): Timestamp | null {
  if (typeof value === 'number') return fromMs(value, null)
  if (typeof value !== 'string') return null
  if (USUAL.test(value)) return { iso: value, isExact: true }
  if (!ISO_8601.test(value) || !isCalendarDay(value)) return null
  return fromMs(Date.parse(normalised(value)), value)
}

/** Date.parse takes the 30th of February for the 2nd of March. */
function isCalendarDay(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number]
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

function fromMs(ms: number, received: string | null): Timestamp | null {
  if (!(ms >= MS_MIN && ms <= MS_MAX)) return null
  const iso = new Date(ms).toISOString()
  return { iso, isExact: iso === received }
}

function normalised(text: string): string {
  const upper = text.toUpperCase().replace(' ', 'T').replace(',', '.')
  if (!upper.includes('T')) return upper
  if (!HAS_ZONE.test(upper.slice(10))) return `${upper}Z`
  // Date.parse wants minutes in an offset.
  return upper.replace(
    /([+-]\d\d):?(\d\d)?$/,
    (_all, hours: string, minutes = '00') => `${hours}:${minutes}`,
  )
}

/**
 * The part of a record that its columns cannot give back, as canonical JSON text for `rest`; null when there is none. A
 * digest takes it as it is: the order of its members is not content, and every digit of its numbers is.
 * @param members members to keep, as parsed
 * @param exactText the record's own text where it may hold numbers that a double cannot; null where it holds none
 * @param complain called with the path of every member that PostgreSQL cannot hold; it is left out
 */
export function restOf(
  members: Record<string, unknown>,
  exactText: () => string | null,
  complain: (path: string) => void,
): string | null {
  const names = Object.keys(members)
  if (names.length === 0) return null
  const text = exactText()
  const exact = text === null ? members : pick(parseExact(text) as Json, names)
  const kept = withoutUnstorable(exact, '', 0, complain) as Record<string, unknown>
  return Object.keys(kept).length === 0 ? null : canonicalJson(kept)
}

/** Of a path that is reported; names of members may be of any length. */
const PATH_UNITS_MAX = 1000

function withoutUnstorable(
  value: unknown,
  path: string,
  depth: number,
  complain: (path: string) => void,
): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => {
      const at = `${path}[${index}]`
      if (!isUnstorable(item, depth)) return withoutUnstorable(item, at, depth + 1, complain)
      complain(at)
      return null
    })
  }
  if (!isObject(value)) return value
  const kept: Json = {}
  for (const [name, member] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`
    if (isUnstorable(member, depth) || !isStorable(name))
      complain(at.slice(0, PATH_UNITS_MAX).replaceAll('\0', '\\u0000').toWellFormed())
    else define(kept, name, withoutUnstorable(member, at, depth + 1, complain))
  }
  return kept
}

function isUnstorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return !isStorable(value)
  if (isLosslessNumber(value)) return magnitudeOf(value.value) > NUMBER_MAGNITUDE_MAX
  return typeof value === 'object' && value !== null && depth >= NESTING_MAX
}

function magnitudeOf(number: string): number {
  const [digits = '', exponent = '0'] = number.toLowerCase().split('e')
  return digits.length + Math.abs(Number(exponent))
}

/**
 * A text member for its column. What is no text stays in `rest`, so that raw gives it back;
 * a text that PostgreSQL cannot hold is reported and is nowhere but among the rejected records.
 */
export function textColumn(
  name: string,
  value: unknown,
  rest: Record<string, unknown>,
  reject: (reason: string) => void,
  column = name,
): string | null {
  if (value === undefined) return null
  if (typeof value === 'string') {
    if (isStorable(value)) return value
    reject(`${name} holds a character that PostgreSQL cannot hold: ${column} was set to null`)
    return null
  }
  rest[name] = value
  if (value !== null) {
    reject(
      `${name} is ${Array.isArray(value) ? 'an array' : `a ${typeof value}`}, not a string: ${column} was set to null`,
    )
  }
  return null
}

/** A time member for its column, as textColumn has texts; one in another form than the column gives back is in `rest` too. */
export function timeColumn(
  name: string,
  value: unknown,
  rest: Record<string, unknown>,
  tell: (reason: string) => void,
  column: string,
): string | null {
  if (value === undefined) return null
  const time = readTimestamp(value)
  if (time === null) {
    if (value !== null) tell(`${name} is no readable time: ${column} was set to null`)
    rest[name] = value
    return null
  }
  if (!time.isExact) rest[name] = value
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
