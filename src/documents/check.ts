import * as z from 'zod'
import { UsageError } from '../base/errors.ts'

/**
 * How what somebody hands to us is checked; and what PostgreSQL can hold, and what we let it hold, of a text, an id or a
 * record: limits that are looked at before it would refuse (docs/FAILURES.md, Limits).
 */

/**
 * Checks what somebody hands to us against its document.
 * @param name of the value, before its members in a message; empty where these say enough
 * @returns the value as the schema gives it
 * @throws UsageError naming the member at fault
 */
export function checked<S extends z.ZodType>(schema: S, value: unknown, name: string): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new UsageError(`${faultOf(parsed.error, name)}.`)
}

/** What is wrong, in one clause that begins with the member: `limit must be a whole number from 1 to 500`. */
export function faultOf({ issues: [issue] }: z.ZodError, name: string): string {
  const member = [name, ...(issue?.path ?? [])].filter((part) => part !== '').join('.')
  if (issue?.code === 'unrecognized_keys') {
    const unknown = JSON.stringify(issue.keys[0])
    return member === '' ? `there is no member ${unknown}` : `${member} has no member ${unknown}`
  }
  const { message = 'is wrong' } = issue ?? {}
  // Our own messages go on with the sentence, those of zod begin one.
  return /^[a-z]/.test(message) ? `${member} ${message}`.trim() : `${member} is wrong: ${message}`
}

/** An entry of a B-tree index holds a third of a page, 2,704 bytes; the rest is for its other columns. In UTF-8. */
export const ID_BYTES_MAX = 2000

/** PostgreSQL's text and jsonb can hold neither a NUL nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** What PostgreSQL can hold of a text: without NULs, with U+FFFD in place of each half of a surrogate pair. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

/** Whether an id is longer than a key may be. */
export function isTooLongId(id: string): boolean {
  // Every UTF-16 unit takes at most three bytes.
  return id.length * 3 > ID_BYTES_MAX && Buffer.byteLength(id) > ID_BYTES_MAX
}

/** A text that is not empty and that PostgreSQL can hold. */
export const text = z
  .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a text') })
  .min(1, 'must not be empty')
  .regex(/^[^\0]*$/, 'must not hold a NUL character')
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode')

/** An id of the service's, which is a key of a table. */
export const id = text.refine(
  (value) => !isTooLongId(value),
  `must not be longer than ${ID_BYTES_MAX} bytes`,
)

/** Names a run, in whatever is asked of one. */
export const RunIdSchema = z.guid('must be the id of a run, a UUID')

/** Whether a text can be a run's id at all. */
export function isRunId(value: unknown): value is string {
  return RunIdSchema.safeParse(value).success
}

/** PostgreSQL's numeric ends at 131,072 digits; nothing sensible is a tenth as long. Digits and exponent added up. */
export const NUMBER_MAGNITUDE_MAX = 1000

/** JSON text of one record, in UTF-16 units: as UTF-8 and as jsonb it stays far from the 256 MB that jsonb can hold. */
export const RECORD_UNITS_MAX = 16_000_000
