import { isLosslessNumber, parse } from 'lossless-json'
import { isStorable } from './received.ts'
import { canonicalJson, isObject } from './canonical.ts'

/** Deeper than anyone nests by intent; PostgreSQL's jsonb and our own recursion both have a limit of stack. */
const DEPTH_MAX = 100

/** PostgreSQL's numeric ends at 131,072 digits; nothing sensible is a tenth as long. */
const NUMBER_MAGNITUDE_MAX = 1000

/**
 * The part of a record that its columns cannot give back, as canonical JSON text for `rest`; null when there is none. A
 * digest takes it as it is: the order of its members is not content, and every digit of its numbers is.
 * @param members members to keep, as parsed
 * @param exactText the record's own text, for numbers that a double cannot hold
 * @param complain called with the path of every member that PostgreSQL cannot hold; it is left out
 */
export function restOf(
  members: Record<string, unknown>,
  exactText: () => string,
  complain: (path: string) => void,
): string | null {
  const names = Object.keys(members)
  if (names.length === 0) return null
  const exact = holdsLongNumber(members) ? pick(parse(exactText()), names) : members
  const kept = withoutUnstorable(exact, '', 0, complain) as Record<string, unknown>
  return Object.keys(kept).length === 0 ? null : canonicalJson(kept)
}

function pick(record: unknown, names: readonly string[]): Record<string, unknown> {
  const all = record as Record<string, unknown>
  return Object.fromEntries(names.map((name) => [name, all[name]]))
}

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
  if (!isObject(value) || isLosslessNumber(value)) return value
  const kept: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`
    if (isUnstorable(member, depth) || !isStorable(name))
      complain(at.replaceAll('\0', '\\u0000').toWellFormed())
    else Object.defineProperty(kept, name, own(withoutUnstorable(member, at, depth + 1, complain)))
  }
  return kept
}

/** Defined, not assigned: a member named `__proto__` is a member like any other. */
function own(value: unknown): PropertyDescriptor {
  return { value, enumerable: true, writable: true, configurable: true }
}

function isUnstorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return !isStorable(value)
  if (isLosslessNumber(value)) return magnitudeOf(value.value) > NUMBER_MAGNITUDE_MAX
  return typeof value === 'object' && value !== null && depth >= DEPTH_MAX
}

function magnitudeOf(number: string): number {
  const [digits = '', exponent = '0'] = number.toLowerCase().split('e')
  return digits.length + Math.abs(Number(exponent))
}

/** Whether a number in it may not be what was written: beyond 2^53, or with more digits than a double has. */
function holdsLongNumber(value: unknown): boolean {
  if (typeof value === 'number') {
    if (Number.isInteger(value)) return !Number.isSafeInteger(value)
    return !Number.isFinite(value) || String(value).length > 15
  }
  if (Array.isArray(value)) return value.some(holdsLongNumber)
  return isObject(value) && Object.values(value).some(holdsLongNumber)
}
