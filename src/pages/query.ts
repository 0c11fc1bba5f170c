import * as z from 'zod'
import { UsageError } from '../errors.ts'

/**
 * Reads what an address or a form says. Fields that a page does not know, such as those of a notice, are left alone.
 * @throws UsageError naming the field at fault
 */
export function readFields<Fields>(schema: z.ZodType<Fields>, given: unknown): Fields {
  const parsed = schema.safeParse(given ?? {})
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new UsageError(`${issue?.path.join('.') || 'The form'} is wrong: ${issue?.message}.`)
}

/** A field that an empty input leaves out. */
export const optionalText = z
  .string()
  .trim()
  .max(1000)
  .optional()
  .transform((text) => text || undefined)
