/**
 * A `lastUpdated` as epoch milliseconds; null for what is no time. ISO 8601, in UTC where it names no zone; a number is epoch
 * milliseconds; years 1 to 9999 (docs/SERVICE.md, Get Comments; docs/FAILURES.md).
 */
export function readTime(value: string | number | null): number | null {
  if (typeof value === 'number') return inRange(Math.trunc(value))
  const parts = value === null ? null : ISO.exec(value)
  if (parts === null) return null
  const [year, month, day, hour, minute, second] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0)) as [number, number, number, number, number, number]
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return null
  const ms = Number((parts[7] ?? '').padEnd(3, '0').slice(0, 3))
  const isMidnight = hour === 24 && minute === 0 && second === 0 && Number(parts[7] ?? 0) === 0
  if ((hour > 23 && !isMidnight) || minute > 59 || second > 59) return null
  const offset = offsetMinutes(parts[8])
  if (offset === null) return null
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute - offset, second, ms)
  return year === 0 ? null : inRange(date.getTime())
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

function offsetMinutes(zone: string | undefined): number | null {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', '') || 0)
  if (hours > 23 || minutes > 59) return null
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

function inRange(ms: number): number | null {
  return ms >= YEAR_1_MS && ms <= YEAR_9999_MS ? ms : null
}

const YEAR_1_MS = -62_135_596_800_000
const YEAR_9999_MS = 253_402_300_799_999
