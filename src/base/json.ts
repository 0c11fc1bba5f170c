import { isLosslessNumber, parse } from 'lossless-json'
import { cutBelow } from './json-text.ts'

/** Deepest nesting of a record that is stored. jsonb and our own recursion both have a limit of stack. */
export const NESTING_MAX = 100

/** An object of JSON. */
export type Json = Record<string, unknown>

/** Sets a member. One named `__proto__` is a member like any other, which an assignment would not make. */
export function define(object: Json, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, writable: true })
  else object[name] = value
}

/**
 * Numbers keep every digit; of two members with one name the last stays, as JSON.parse has it. What is nested deeper than is
 * stored is emptied.
 */
export function parseExact(text: string): unknown {
  return parse(cutBelow(text, NESTING_MAX + 1), null, {
    onDuplicateKey: ({ newValue }) => newValue,
  })
}

/** The value, with everything emptied that is nested deeper than is stored. The reader of the record reports that. */
export function withoutTooDeep(value: unknown, depth = 0): unknown {
  if (Array.isArray(value))
    return depth > NESTING_MAX ? [] : value.map((each) => withoutTooDeep(each, depth + 1))
  if (!isObject(value)) return value
  const kept: Json = {}
  if (depth > NESTING_MAX) return kept
  for (const [name, each] of Object.entries(value))
    define(kept, name, withoutTooDeep(each, depth + 1))
  return kept
}

/** Those of the members that are there. */
export function pick(item: Json, names: Iterable<string>): Json {
  return Object.fromEntries(
    [...names].filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]]),
  )
}

/** True for an object of JSON, also among lossless numbers. */
export function isObject(value: unknown): value is Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return !isLosslessNumber(value)
}
