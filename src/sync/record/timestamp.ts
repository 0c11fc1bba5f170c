/** What `Date.prototype.toISOString` writes, and the view's `to_char`: such a text needs no copy in `rest`. */
const CANONICAL = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
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
  if (isUsual(value)) return { iso: value, isExact: true }
  if (!ISO_8601.test(value) || !isCalendarDay(value)) return null
  return fromMs(Date.parse(CANONICAL.test(value) ? value : normalised(value)), value)
}

/**
 * Whether a text is what the document shows, of a time that is in every year. It says so without a Date, whose making and
 * writing was a tenth of what reading a comment costs; whatever else is a time takes the longer way.
 */
function isUsual(text: string): boolean {
  if (text.length !== 24 || !CANONICAL.test(text)) return false
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  return (
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysOf(month) &&
    twoDigits(text, 11) < 24 &&
    twoDigits(text, 14) < 60 &&
    twoDigits(text, 17) < 60
  )
}

/** The 29th of February takes the longer way. */
function daysOf(month: number): number {
  if (month === 2) return 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

function twoDigits(text: string, at: number): number {
  return text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 11 * 48
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
