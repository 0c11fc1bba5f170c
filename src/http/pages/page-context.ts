import * as z from 'zod'
import type { SharedCollabSync } from '../../client/collab-sync.ts'
import type { Database } from '../../core/database/pool.ts'
import { CURSOR_CHARACTERS_MAX } from '../../documents/page.ts'
import { UsageError } from '../../base/errors.ts'
import type { Settings } from '../../settings/table.ts'

/** What the pages show and act on. */
export interface PageContext {
  readonly collabSync: SharedCollabSync
  /** For what only people ask for; programs do without. */
  readonly database: Database
  readonly settings: Settings
}

/**
 * Reads what an address or a form says. Empty inputs, and fields that a page does not know, such as those of a notice, are
 * left out.
 * @throws UsageError naming the field at fault
 */
export function readFields<Fields>(schema: z.ZodType<Fields>, given: unknown): Fields {
  const filled = Object.entries(given ?? {}).filter(([, value]) => value !== '')
  const parsed = schema.safeParse(Object.fromEntries(filled))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new UsageError(`${issue?.path.join('.') || 'The form'} is wrong: ${issue?.message}.`)
}

/** A field that an empty input leaves out; a cursor too, which is the longest there is. */
export const optionalText = z
  .string()
  .trim()
  .max(CURSOR_CHARACTERS_MAX)
  .optional()
  .transform((text) => text || undefined)

/** Where a page of a listing begins. */
export const CursorQuery = z.object({ cursor: optionalText })
