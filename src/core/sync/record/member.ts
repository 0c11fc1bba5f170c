import { isLosslessNumber } from 'lossless-json'
import { NUMBER_MAGNITUDE_MAX, isStorable, storable } from '../../../documents/check.ts'
import { namesPeople } from '../../../base/columns.ts'
import { define, NESTING_MAX, parseExact, pick } from '../../../base/json.ts'
import type { Json } from '../../../base/json.ts'
import { readTimestamp } from '../../../base/timestamp.ts'

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
  const kept = storableText(exact, [], (reason) => {
    count += 1
    if (count <= REASONS_MAX) reasons.push(reason)
  })
  if (count > REASONS_MAX) reject(`${count} members cannot be stored as received`)
  else for (const reason of reasons) reject(reason)
  return kept === undefined || kept === '{}' ? null : kept
}

/** Members of one record that are reported one by one: each has a row with the whole record in it. */
const REASONS_MAX = 20

/** Of a path that is reported; names of members may be of any length. */
const PATH_UNITS_MAX = 1000

/** Where a value is in its record: names of members and indexes of items, each within the one before. */
type Path = (string | number)[]

/** The part of a value that PostgreSQL can hold, as `canonicalJson` writes it; undefined where it is left out as a whole. */
function storableText(
  value: unknown,
  path: Path,
  reject: (reason: string) => void,
): string | undefined {
  if (typeof value === 'string') {
    if (isStorable(value)) return JSON.stringify(value)
    if (mayBeId(path)) return leaveOut(path, reject)
    reject(`${shown(path)} ${UNSTORABLE}: raw has it without them`)
    return JSON.stringify(storable(value))
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (isLosslessNumber(value))
    return magnitudeOf(value.value) > NUMBER_MAGNITUDE_MAX ? leaveOut(path, reject) : value.value
  if (path.length > NESTING_MAX) return leaveOut(path, reject)
  let text = ''
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      path.push(index)
      text += `${index === 0 ? '' : ','}${storableText(item, path, reject) ?? 'null'}`
      path.pop()
    }
    return `[${text}]`
  }
  const members: { readonly name: string; readonly text: string }[] = []
  for (const name in value) {
    path.push(name)
    const member = isStorable(name)
      ? storableText((value as Json)[name], path, reject)
      : leaveOut(path, reject)
    path.pop()
    if (member !== undefined) members.push({ name, text: member })
  }
  members.sort((one, other) => (one.name < other.name ? -1 : 1))
  for (const { name, text: member } of members)
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${member}`
  return `{${text}}`
}

function leaveOut(path: Path, reject: (reason: string) => void): undefined {
  reject(`${shown(path)} cannot be stored: left out of raw`)
}

function shown(path: Path): string {
  let text = ''
  for (const part of path)
    text += typeof part === 'number' ? `[${part}]` : text === '' ? part : `.${part}`
  return text.slice(0, PATH_UNITS_MAX).replaceAll('\0', '\\u0000').toWellFormed()
}

/** An ID without one of its characters is the ID of something else. */
function mayBeId(path: Path): boolean {
  const name = path.findLast((part) => typeof part === 'string') ?? ''
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

/** Members that the document does not show. */
export function otherMembers(
  item: Record<string, unknown>,
  documented: ReadonlySet<string>,
): Record<string, unknown> {
  const others: Json = {}
  for (const name in item) if (!documented.has(name)) define(others, name, item[name])
  return others
}
