import * as z from 'zod'
import { RECORD_OBJECTS } from '../base/columns.ts'
import { RunIdSchema } from './check.ts'
import { PageRequestSchema, pageSchema } from './page.ts'
import { ScopeIdsSchema } from './scope.ts'

const KINDS = ['added', 'edited', 'deleted', 'restored', 'removed'] as const

const kind = {
  object: z
    .enum(RECORD_OBJECTS, `must be one of ${RECORD_OBJECTS.join(', ')}`)
    .describe('The view of the schema collab, in the singular.'),
  change: z
    .enum(KINDS, `must be one of ${KINDS.join(', ')}`)
    .describe(
      'A comment is deleted, a user or member is removed. An author who joins the organization is edited.',
    ),
}

const RunChangeSchema = z
  .object({
    ...kind,
    at: z.date().describe('When the transaction that changed it began.'),
    ...ScopeIdsSchema.shape,
    organizationId: z.string(),
    commentId: z.number().nullable(),
    userId: z
      .string()
      .nullable()
      .describe('Null for comments, and for a user who was erased since.'),
    name: z
      .string()
      .nullable()
      .describe('The name of the user, or the first words of the comment, as they are now.'),
  })
  .meta({ id: 'RunChange', description: 'A comment, user or membership that a run changed.' })

export type RunChange = z.output<typeof RunChangeSchema>

export const RunChangesPageSchema = pageSchema(RunChangeSchema)
  .extend({
    finishedAt: z.date().nullable().describe('End of the run; null while more changes can follow.'),
    counts: z
      .array(z.object({ ...kind, count: z.number() }))
      .describe(
        'Counts of all changes of the run, also if the request selects some of them. If the run changed a comment or user twice, it counts twice. Comments and removals equal the counts of `Run`. `usersWritten` of `Run` also counts users of whom only internal columns changed.',
      ),
    prunedBefore: z
      .date()
      .nullable()
      .describe('Changes of the run before this time were pruned; null if none were.'),
    removalsAccepted: z
      .number()
      .describe(
        'Held listings of the run whose removal a user accepted later. These removals belong to the user, so they are not in the list.',
      ),
  })
  .meta({ id: 'RunChanges' })

export type RunChangesPage = Readonly<z.output<typeof RunChangesPageSchema>>

export const RunChangesRequestSchema = PageRequestSchema.extend({
  runId: RunIdSchema,
  object: kind.object.optional(),
  change: kind.change.optional(),
})
