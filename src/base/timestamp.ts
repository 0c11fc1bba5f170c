import { isObject } from './json.ts'

/**
 * What the document shows, and `Date.prototype.toISOString` writes: such a text needs no copy in `rest`. Only days that every
 * year has, so that no Date is needed to check the text (docs/decisions/2026-11-29-cpu-of-a-call.md).
 */
const USUAL =
  /^(?!0000)\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
const ISO_8601 = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$/i
const HAS_ZONE = /(Z|[+-]\d\d(:?\d\d)?)$/i

/** Years that both JavaScript and PostgreSQL write with four digits. */
const MS_MIN = Date.parse('0001-01-01T00:00:00.000Z')
const MS_MAX = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Reads `lastUpdated`: ISO 8601, in UTC where it names no zone; a number is epoch milliseconds
 * (docs/SERVICE.md shows ISO 8601 UTC with milliseconds; everything else is leniency).
 * @returns `iso` in UTC with milliseconds, and whether it is the very text that was received; null for what is no time
 */
export function readTimestamp(value: unknown): ReturnType<typeof fromMs> {
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

function fromMs(ms: number, received: string | null) {
  if (!(ms >= MS_MIN && ms <= MS_MAX)) return null
  const iso = new Date(ms).toISOString()
  return { iso, isExact: iso === received }
}

function normalised(text: string): string {
  const upper = text.toUpperCase().replace(' ', 'T').replace(',', '.')
  if (!upper.includes('T')) return upper
  if (!HAS_ZONE.test(upper)) return `${upper}Z`
  // Date.parse wants minutes in an offset.
  return upper.replace(
    /([+-]\d\d):?(\d\d)?$/,
    (_all, hours: string, minutes = '00') => `${hours}:${minutes}`,
  )
}

/** Below it a number counts seconds (until the year 5138), from it on milliseconds (since March 1973). */
const SECONDS_BELOW = 100_000_000_000

/**
 * When a record says that it was written: a time with its day and hour in ISO 8601, in UTC where it names no zone; epoch
 * seconds or milliseconds, distinguished by their magnitude; or an object with `seconds` or `_seconds`, as document databases
 * write times, with its nanoseconds where it has them. To the millisecond, as all times of the service.
 * @param path names of members, each within the one before
 * @returns ISO 8601 in UTC with milliseconds; null where the member is not there or holds no time. Numbers up to 0 are none:
 *   they stand for a time that is not known
 */
export function readWritten(record: unknown, path: readonly string[]): string | null {
  let value = record
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return null
    value = value[name]
  }
  return writtenOf(value)
}

/** As readWritten, of the member's own value. */
export function writtenOf(value: unknown): string | null {
  if (typeof value === 'number')
    return value > 0 ? isoOf(value < SECONDS_BELOW ? value * 1000 : value) : null
  if (typeof value === 'string') return DAY.test(value) ? null : (readTimestamp(value)?.iso ?? null)
  if (!isObject(value)) return null
  const seconds = value['seconds'] ?? value['_seconds']
  const nanos = value['nanoseconds'] ?? value['_nanoseconds'] ?? value['nanos'] ?? value['_nanos']
  if (typeof seconds !== 'number' || !(seconds > 0)) return null
  return isoOf(seconds * 1000 + (typeof nanos === 'number' ? Math.floor(nanos / 1_000_000) : 0))
}

/** Midnight is not when it was written. */
const DAY = /^\d{4}-\d\d-\d\d$/

function isoOf(ms: number): string | null {
  return fromMs(Math.floor(ms), null)?.iso ?? null
}

/** Reads an age in days or weeks, such as `400d` or `60w`. @returns milliseconds; undefined if it is none */
export function readAge(text: string): number | undefined {
  const [, number, unit] = /^([1-9]\d{0,4})([dw])$/.exec(text) ?? []
  return number === undefined ? undefined : Number(number) * (unit === 'w' ? 7 : 1) * 86_400_000
}
