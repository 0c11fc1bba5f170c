import * as z from 'zod'
import type { SharedCollabSync } from '../../client/collab-sync.ts'
import type { Database } from '../../core/database/pool.ts'
import { CURSOR_CHARACTERS_MAX } from '../../schemas/page.ts'
import { UsageError } from '../../base/errors.ts'
import type { Settings } from '../../settings/table.ts'

export interface PageContext {
  readonly collabSync: SharedCollabSync
  /** For queries that only the pages need. */
  readonly database: Database
  readonly settings: Settings
}

/** The options of a page that every token may open. */
export const READ = { config: { right: 'read' } } as const

/**
 * Reads the fields of an address or a form. Empty and unknown fields are ignored.
 * @throws UsageError that names the wrong field
 */
export function readFields<Fields>(schema: z.ZodType<Fields>, given: unknown): Fields {
  const filled = Object.entries(given ?? {}).filter(([, value]) => value !== '')
  const parsed = schema.safeParse(Object.fromEntries(filled))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new UsageError(`${issue?.path.join('.') || 'The form'} is wrong: ${issue?.message}.`)
}

/** An optional text. Cursors are the longest. */
export const optionalText = z
  .string()
  .trim()
  .max(CURSOR_CHARACTERS_MAX)
  .optional()
  .transform((text) => text || undefined)

export const CursorQuery = z.object({ cursor: optionalText })
