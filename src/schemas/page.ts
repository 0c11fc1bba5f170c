import * as z from 'zod'
import { RunIdSchema } from './check.ts'

export interface Page<T> {
  readonly items: readonly T[]
  /** Opaque: the `cursor` of the next page; null on the last page. */
  readonly nextCursor: string | null
}

export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().describe('Null on the last page.'),
  })
}

const LIMIT_FAULT = 'must be a whole number from 1 to 500'
export const CURSOR_FAULT = 'must be the nextCursor of a page of the same listing'

export const LimitSchema = z.int(LIMIT_FAULT).min(1, LIMIT_FAULT).max(500, LIMIT_FAULT)

/** The longest key in a cursor is an ID of the service. */
export const CURSOR_CHARACTERS_MAX = 8000

export const PageRequestSchema = z.strictObject({
  limit: LimitSchema.optional().describe('Maximum number of items; 50 if omitted.'),
  cursor: z
    .string(CURSOR_FAULT)
    .max(CURSOR_CHARACTERS_MAX, CURSOR_FAULT)
    .regex(/^[\w-]+$/, CURSOR_FAULT)
    .optional()
    .describe('The nextCursor of the previous page.'),
})

export type PageRequest = z.input<typeof PageRequestSchema>

export const OfRunRequestSchema = PageRequestSchema.extend({
  runId: RunIdSchema.optional().describe('Only of this run.'),
})
