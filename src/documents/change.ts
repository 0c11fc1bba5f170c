import * as z from 'zod'
import { CHANGED_OBJECTS } from '../base/columns.ts'
import { RunIdSchema } from './check.ts'
import { PageRequestSchema, pageSchema } from './page.ts'

export const ChangeSchema = z
  .object({
    cursor: z.string().describe('Where to go on behind this change.'),
    object: z.enum(CHANGED_OBJECTS).describe('What changed: a row of which view of collab.'),
    change: z.enum(['added', 'edited', 'deleted', 'restored', 'removed', 'erased']),
    key: z
      .record(z.string(), z.union([z.string(), z.number()]).nullable())
      .describe('The key columns of the row; user_id is null where the person was erased since.'),
    person: z
      .string()
      .optional()
      .describe('Of people: the person of collab.users, by which one knows whom to erase.'),
    row: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The row as it is now, without its times of check; null where it is gone.'),
    at: z.date().describe('When the transaction that changed it began.'),
    run_id: RunIdSchema.nullable().describe('Null for imports, erasures and what people decided.'),
  })
  .meta({ id: 'Change', description: 'A change of what is stored.' })

/** A change of what is stored, in the names of the tables. */
export type Change = z.output<typeof ChangeSchema>

export const ChangesRequestSchema = PageRequestSchema.extend({
  cursor: PageRequestSchema.shape.cursor.describe(
    'Only what comes behind it: the cursor of a change, of a page or of an export. As far back as the feed goes when left out.',
  ),
})

export const ChangesPageSchema = pageSchema(ChangeSchema).extend({
  cursor: z.string().describe('Where to go on later, once more has changed.'),
  heldBack: z
    .number()
    .describe(
      'Changes that are stored but come later, since an older transaction of this database is still open.',
    ),
})

/** What changed behind a cursor, in the order in which each row did. */
export type ChangesPage = Readonly<z.output<typeof ChangesPageSchema>>
