import * as z from 'zod'
import { UsageError } from '../base/errors.ts'

/**
 * Checks an input.
 * @param name prefix of the members in a message
 * @throws UsageError naming the wrong member
 */
export function checked<S extends z.ZodType>(schema: S, value: unknown, name = ''): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new UsageError(`${faultOf(parsed.error, name)}.`)
}

/** The fault as a clause that begins with the member: `limit must be a whole number from 1 to 500`. */
export function faultOf({ issues: [issue] }: z.ZodError, name: string): string {
  const member = [name, ...(issue?.path ?? [])].filter((part) => part !== '').join('.')
  if (issue?.code === 'unrecognized_keys') {
    const unknown = JSON.stringify(issue.keys[0])
    return member === '' ? `there is no member ${unknown}` : `${member} has no member ${unknown}`
  }
  const { message = 'is wrong' } = issue ?? {}
  // Our messages continue the clause, those of zod are sentences.
  return /^[a-z]/.test(message) ? `${member} ${message}`.trim() : `${member} is wrong: ${message}`
}

/** In UTF-8. An entry of a B-tree index has at most a third of a page, 2,704 bytes, including its other columns. */
export const ID_BYTES_MAX = 2000

/** text and jsonb of PostgreSQL can contain neither NUL nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** Removes NULs, and replaces each half of a surrogate pair by U+FFFD. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

/** Whether an ID is too long for a key. */
export function isTooLongId(id: string): boolean {
  // Every UTF-16 unit takes at most three bytes.
  return id.length * 3 > ID_BYTES_MAX && Buffer.byteLength(id) > ID_BYTES_MAX
}

/** A text that is not empty and that PostgreSQL can store. */
export const text = z
  .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a text') })
  .min(1, 'must not be empty')
  .regex(/^[^\0]*$/, 'must not hold a NUL character')
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode')

/** An ID of the service. */
export const id = text.refine(
  (value) => !isTooLongId(value),
  `must not be longer than ${ID_BYTES_MAX} bytes`,
)

export const RunIdSchema = z.guid('must be the ID of a run, a UUID')

/** Whether a value can be the ID of a run. */
export function isRunId(value: unknown): value is string {
  return RunIdSchema.safeParse(value).success
}

/** Digits plus exponent. numeric of PostgreSQL has at most 131,072 digits. */
export const NUMBER_MAGNITUDE_MAX = 1000

/** Of the JSON text of a record, in UTF-16 units: well below the 256 MB of jsonb. */
export const RECORD_UNITS_MAX = 16_000_000
