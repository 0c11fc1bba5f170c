import * as z from 'zod'
import { CHANGED_OBJECTS } from '../base/columns.ts'
import { RunIdSchema } from './check.ts'
import { PageRequestSchema, pageSchema } from './page.ts'

export const ChangeSchema = z
  .object({
    cursor: z.string().describe('The cursor of this change.'),
    object: z.enum(CHANGED_OBJECTS).describe('The view of the schema collab, in the singular.'),
    change: z.enum(['added', 'edited', 'deleted', 'restored', 'removed', 'erased']),
    key: z
      .record(z.string(), z.union([z.string(), z.number()]).nullable())
      .describe('The key columns of the row; user_id is null if the person was erased later.'),
    person: z
      .string()
      .optional()
      .describe(
        'For people: person of collab.users, which identifies a person also after an erasure.',
      ),
    row: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The current row, without its check times; null if it no longer exists.'),
    at: z.date().describe('When the transaction that changed it began.'),
    run_id: RunIdSchema.nullable().describe('Null for imports, erasures and decisions of users.'),
  })
  .meta({ id: 'Change', description: 'A change of a stored row.' })

/** A change of a stored row, with the names of the tables. */
export type Change = z.output<typeof ChangeSchema>

export const ChangesRequestSchema = PageRequestSchema.extend({
  cursor: PageRequestSchema.shape.cursor.describe(
    'Only later changes: the cursor of a change, a page or an export. If omitted, the whole feed.',
  ),
})

export const ChangesPageSchema = pageSchema(ChangeSchema).extend({
  cursor: z.string().describe('The cursor for the next call.'),
  heldBack: z
    .number()
    .describe('Number of changes that are delayed by an open transaction of this database.'),
})

export type ChangesPage = Readonly<z.output<typeof ChangesPageSchema>>
