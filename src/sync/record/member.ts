import { isLosslessNumber } from 'lossless-json'
import { NESTING_MAX, NUMBER_MAGNITUDE_MAX, isStorable } from '../../documents/check.ts'
import { define, isObject, parseExact, pick } from '../../privacy/json.ts'
import type { Json } from '../../privacy/json.ts'
import { readTimestamp } from '../../timestamp.ts'
import { canonicalJson } from './digest.ts'

/**
 * The part of a record that its columns cannot give back, as canonical JSON text for `rest`; null when there is none. A
 * digest takes it as it is: the order of its members is not content, and every digit of its numbers is.
 * @param members members to keep, as parsed
 * @param exactText the record's own text where it may hold numbers that a double cannot; null where it holds none
 * @param reject called with the reason where PostgreSQL cannot hold a member, which is left out: once for each, but once
 *   for all where they are many
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
  const leftOut: string[] = []
  let count = 0
  const kept = withoutUnstorable(exact, '', 0, (path) => {
    count += 1
    if (count <= REASONS_MAX) leftOut.push(path)
  }) as Record<string, unknown>
  if (count > REASONS_MAX) reject(`${count} members cannot be stored: left out of raw`)
  else for (const path of leftOut) reject(`${path} cannot be stored: left out of raw`)
  return Object.keys(kept).length === 0 ? null : canonicalJson(kept)
}

/** Members of one record that are reported one by one: each has a row with the whole record in it. */
const REASONS_MAX = 20

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
