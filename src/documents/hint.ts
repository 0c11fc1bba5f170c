import * as z from 'zod'
import { JobRequestedBySchema } from './action.ts'
import { AddSchema } from './catalog-line.ts'
import { id, RunIdSchema } from './check.ts'

const LIST_FAULT = 'must name one organization'

/** What somebody says to have changed: the comments of one annotation, or of all active ones of a document. */
export const HintScopeSchema = z
  .strictObject(
    {
      organizationIds: z.array(id, LIST_FAULT).length(1, LIST_FAULT),
      documentId: id,
      annotationId: id.optional().describe('Without it all annotations of the document.'),
    },
    'must be an object',
  )
  .meta({ id: 'HintScope' })

export type HintScope = z.output<typeof HintScopeSchema>

/** The body of a hint. */
export const NewHintSchema = z
  .strictObject({ scope: HintScopeSchema, add: AddSchema.optional() })
  .meta({ id: 'NewHint' })

/** The data of a `hint` job. */
export const HintJobSchema = NewHintSchema.extend({ requestedBy: JobRequestedBySchema })

export const HintedSchema = z
  .object({
    runId: RunIdSchema.nullable().describe(
      'The run that looks, which other hints may have made; null where continuous refresh looks.',
    ),
    threads: z.number().describe('Annotations that are looked at.'),
  })
  .meta({ id: 'Hinted' })

/** What became of a hint. */
export type Hinted = z.output<typeof HintedSchema>
