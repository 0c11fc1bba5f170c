import * as z from 'zod'
import { RunIdSchema } from './check.ts'

/** A page of a listing, newest or first in order first; `nextCursor` is null on the last page. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Opaque; hand it back as `cursor` for the next page. */
  readonly nextCursor: string | null
}

/** The same as a schema. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().describe('Null on the last page.'),
  })
}

const LIMIT_FAULT = 'must be a whole number from 1 to 500'
/** What is said of a cursor that is none. */
export const CURSOR_FAULT = 'must be the nextCursor of a page of the same listing'

/** Items of a page. */
export const LimitSchema = z.int(LIMIT_FAULT).min(1, LIMIT_FAULT).max(500, LIMIT_FAULT)

/** The longest key in a cursor is an id of the service's. */
export const CURSOR_CHARACTERS_MAX = 8000

/** What any listing is asked with. */
export const PageRequestSchema = z.strictObject({
  limit: LimitSchema.optional().describe('At most so many items; 50 when left out.'),
  cursor: z
    .string(CURSOR_FAULT)
    .max(CURSOR_CHARACTERS_MAX, CURSOR_FAULT)
    .regex(/^[\w-]+$/, CURSOR_FAULT)
    .optional()
    .describe('The nextCursor of the page before.'),
})

export type PageRequest = z.input<typeof PageRequestSchema>

/** What a listing of what runs left behind is asked with. */
export const OfRunRequestSchema = PageRequestSchema.extend({
  runId: RunIdSchema.optional().describe('Only of this run.'),
})
