import { isLosslessNumber } from 'lossless-json'
import { NUMBER_MAGNITUDE_MAX, isStorable, storable } from '../../../schemas/check.ts'
import { namesPeople } from '../../../base/columns.ts'
import type { NamedColumn } from '../../../base/columns.ts'
import { valuesIn } from '../../../base/json-text.ts'
import { define, NESTING_MAX, parseExact, pick } from '../../../base/json.ts'
import type { Json } from '../../../base/json.ts'
import { readTimestamp } from '../../../base/timestamp.ts'
import type { Received } from './received.ts'

/** A column that holds a member of an object: its position among those of the record, and what reasons call both. */
export type MemberColumn = ReturnType<typeof memberColumns>[number]

/**
 * Those of the columns that hold members of one object.
 * @param path before the names of its members, such as `from.`
 * @param label what reasons say before the names of its members
 */
export function memberColumns(columns: readonly NamedColumn[], path = '', label = path) {
  return columns.flatMap(({ column, type, member }, index) => {
    if (type === 'jsonb' || !member?.startsWith(path)) return []
    const name = member.slice(path.length)
    return name.includes('.') ? [] : [{ index, member: name, type, label: label + name, column }]
  })
}

/**
 * Reads the members of an object into their columns. What a column cannot give back exactly, such as a time in another form, is
 * set in `rest` as well. IDs are not read by this: a text without the characters that PostgreSQL cannot hold is stored.
 */
export function readColumns(
  columns: readonly MemberColumn[],
  object: Json,
  texts: (string | null)[],
  rest: Json,
  received: Received,
): void {
  for (const { index, member, type, label, column } of columns) {
    const value = object[member]
    if (value === undefined) continue
    let text = value
    if (typeof value === 'string' && !isStorable(value)) {
      received.reject(`${label} ${UNSTORABLE}: ${column} is stored without them`)
      text = storable(value)
    }
    if (type === 'text' && typeof text === 'string') {
      texts[index] = text
      continue
    }
    const time = type === 'text' ? null : readTimestamp(text)
    texts[index] = time?.iso ?? null
    if (!time?.isExact) rest[member] = value
    if (time !== null || value === null) continue
    const fault = type === 'text' ? `${typeName(value)}, not a string` : 'no readable time'
    received.reject(`${label} is ${fault}: ${column} was set to null`)
  }
}

/** The type of a value, in a reason. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}

/** Members that have no column. */
export function otherMembers(item: Json, known: ReadonlySet<string>): Json {
  const others: Json = {}
  for (const name in item) if (!known.has(name)) define(others, name, item[name])
  return others
}

/**
 * The part of a record that its columns cannot give back, as canonical JSON text for `rest`; null when there is none. A
 * digest takes it as it is: the order of its members is not content, and every digit of its numbers is. What PostgreSQL cannot
 * hold as received is reported, once for each member, but once for all where they are many. A text is kept without the
 * characters at fault, everything else is left out.
 * @param members members to keep, as parsed
 * @param within the member that holds them; left out where the record itself does
 */
export function restOf(members: Json, received: Received, within?: string): string | null {
  const names = Object.keys(members)
  if (names.length === 0) return null
  const text = received.exactText()
  const ownText = text === null || within === undefined ? text : memberText(text, within)
  const exact = ownText === null ? members : pick(parseExact(ownText) as Json, names)
  const label = within === undefined ? '' : `${within}: `
  const reasons: string[] = []
  let count = 0
  const kept = storableText(exact, [], (reason) => {
    count += 1
    if (count <= REASONS_MAX) reasons.push(reason)
  })
  if (count > REASONS_MAX) received.reject(`${label}${count} members cannot be stored as received`)
  else for (const reason of reasons) received.reject(label + reason)
  return kept === undefined || kept === '{}' ? null : kept
}

/** The text of one member of an object's text, as received; of two with one name the last, as JSON.parse takes it. */
function memberText(objectText: string, name: string): string {
  const value = valuesIn(objectText).findLast((each) => each.name === name)
  return value === undefined ? '' : objectText.slice(value.start, value.end).trim()
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
