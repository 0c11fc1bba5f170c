import * as z from 'zod'
import { JobRequestedBySchema } from './action.ts'
import { AddSchema } from './catalog-line.ts'
import { id, RunIdSchema } from './check.ts'

const LIST_FAULT = 'must name one organization'

/** The comments of an annotation, or of all active annotations of a document. */
export const HintScopeSchema = z
  .strictObject(
    {
      organizationIds: z.array(id, LIST_FAULT).length(1, LIST_FAULT),
      documentId: id,
      annotationId: id.optional().describe('If omitted, all annotations of the document.'),
    },
    'must be an object',
  )
  .meta({ id: 'HintScope' })

export type HintScope = z.output<typeof HintScopeSchema>

export const NewHintSchema = z
  .strictObject({ scope: HintScopeSchema, add: AddSchema.optional() })
  .meta({ id: 'NewHint' })

export const HintJobSchema = NewHintSchema.extend({ requestedBy: JobRequestedBySchema })

export const HintedSchema = z
  .object({
    runId: RunIdSchema.nullable().describe(
      'The run that fetches the comments, possibly started by another hint; null if continuous refresh fetches them.',
    ),
    annotations: z.number().describe('Number of annotations that are fetched.'),
  })
  .meta({ id: 'Hinted' })

export type Hinted = z.output<typeof HintedSchema>
