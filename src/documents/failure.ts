import * as z from 'zod'
import { id, RunIdSchema } from './check.ts'
import { OfRunRequestSchema } from './page.ts'
import { OperationSchema, ScopeIdsSchema, SomeIdsSchema } from './scope.ts'

const answer = {
  httpStatus: z.number().nullable(),
  errorStatus: z.string().nullable(),
  errorMessage: z.string().nullable(),
}

export const FailureSchema = z
  .object({
    failureId: z.number(),
    runId: RunIdSchema,
    at: z.date(),
    operation: OperationSchema,
    ...ScopeIdsSchema.shape,
    ...answer,
    attempts: z.number(),
  })
  .meta({ id: 'Failure', description: 'A scope of a run that gave no usable answer.' })

/** One scope of a run that gave no usable answer, after so many `attempts`. */
export type Failure = z.output<typeof FailureSchema>

export const FailureCauseSchema = z
  .object({
    operation: OperationSchema,
    ...answer,
    scopes: z.number(),
    organizations: z.number(),
    attempts: z.number().describe('Most calls made for one of the scopes.'),
    examples: z.array(SomeIdsSchema).describe('The first three of the scopes.'),
  })
  .meta({ id: 'FailureCause' })

/** Why scopes of a run failed, with the first three that did; `attempts` are the most calls made for one of them. */
export type FailureReport = z.output<typeof FailureCauseSchema>

export const FailuresRequestSchema = OfRunRequestSchema.extend({
  organizationId: id.optional(),
})
