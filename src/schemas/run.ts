import * as z from 'zod'
import { SHOWN_COUNTS } from './counts.ts'
import { ActionSchema, JobRequestedBySchema } from './action.ts'
import { AddSchema } from './catalog-line.ts'
import { id, RunIdSchema, text } from './check.ts'
import { HeldSchema, RejectedRecordSchema } from './waiting.ts'
import { OfRunRequestSchema, PageRequestSchema } from './page.ts'
import {
  OperationSchema,
  ScopeIdsSchema,
  ScopeSchema,
  SomeIdsSchema,
  StoredScopeSchema,
} from './scope.ts'

export const RUN_STATUSES = [
  'queued',
  'running',
  'succeeded',
  'partial',
  'failed',
  'cancelled',
] as const

export type RunStatus = (typeof RUN_STATUSES)[number]

const TriggerSchema = z
  .enum(['schedule', 'cli', 'http', 'api', 'hint', 'refresh'])
  .describe('What requested it.')

export type Trigger = z.output<typeof TriggerSchema>

const countFields = Object.fromEntries(
  Object.entries(SHOWN_COUNTS).map(([name, says]) => [
    name,
    says === '' ? z.number() : z.number().describe(says),
  ]),
) as Record<keyof typeof SHOWN_COUNTS, z.ZodNumber>

export const RunSchema = z
  .object({
    runId: RunIdSchema,
    trigger: TriggerSchema,
    status: z.enum(RUN_STATUSES),
    scope: StoredScopeSchema,
    requestedAt: z.date(),
    startedAt: z.date().nullable(),
    finishedAt: z.date().nullable(),
    stopping: z
      .enum(['failed', 'cancelled'])
      .nullable()
      .describe('The status with which it is about to end.'),
    problem: z.string().nullable().describe('Why it failed or was cancelled, in one sentence.'),
    requestedBy: z
      .string()
      .nullable()
      .describe('The user or program that requested it, as in `Action`; null for a nightly run.'),
    retryOf: RunIdSchema.nullable().describe('The run whose failed scopes it requests again.'),
    failing: z.boolean().describe('True if it requests only the scopes that failed at that time.'),
    readAt: z.date().describe('When PostgreSQL read these numbers.'),
    durationMs: z.number().describe('From its start until its end, or until now.'),
    workersGone: z.boolean().describe('True if it is in progress and no worker is running.'),
    scopesExpected: z
      .number()
      .describe(
        'Number of scopes in the catalog at its start, as the denominator of its progress.',
      ),
    ...countFields,
    fieldsRejected: z
      .number()
      .describe('Rejected fields of stored records: `rejected` less `recordsRejected`.'),
  })
  .meta({ id: 'Run' })

/** A run; while it is in progress, its counts so far. */
export type Run = z.output<typeof RunSchema>

const response = {
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
    ...response,
    attempts: z.number(),
    state: z
      .enum(['failing', 'resolved', 'left_catalog'])
      .describe(
        'Whether the scope still fails, returned a usable response since, or is no longer in the catalog.',
      ),
    resolvedAt: z.date().nullable(),
    resolvedBy: RunIdSchema.nullable().describe('The run that resolved it; it may be pruned.'),
  })
  .meta({ id: 'Failure', description: 'A scope of a run without a usable response.' })

export type Failure = z.output<typeof FailureSchema>

const FailuresByStateSchema = z
  .object({ failing: z.number(), resolved: z.number(), leftCatalog: z.number() })
  .meta({
    id: 'FailuresByState',
    description:
      'Failed scopes by their current state: they still fail, returned a usable response, or left the catalog.',
  })

export type FailuresByState = z.output<typeof FailuresByStateSchema>

export const FailureCauseSchema = z
  .object({
    operation: OperationSchema,
    ...response,
    scopes: z.number(),
    organizations: z.number(),
    attempts: z.number().describe('Maximum number of calls for one of the scopes.'),
    ...FailuresByStateSchema.shape,
    resolvedBy: z
      .array(RunIdSchema)
      .readonly()
      .describe('The last five of the runs that resolved some of them.'),
    examples: z.array(SomeIdsSchema).describe('The first three of the scopes.'),
  })
  .meta({ id: 'FailureCause' })

export type FailureReport = z.output<typeof FailureCauseSchema>

export const FailuresRequestSchema = OfRunRequestSchema.extend({
  organizationId: id.optional(),
})

export const WaitSchema = z
  .object({
    kind: z.enum([
      'throttled',
      'rate_limit',
      'rate_limit_store',
      'away',
      'overtaken',
      'lock',
      'retry',
      'queue',
      'paused_by_person',
      'refresh_paused',
      'idle',
    ]),
    since: z.date(),
    until: z.date().nullable().describe('When the next attempt starts, if known.'),
    givesUpAt: z.date().nullable().describe('When the wait ends without success.'),
    sentence: z.string(),
    workers: z.number().describe('Number of workers that wait for this.'),
    ofWorkers: z.number().describe('Number of live workers.'),
  })
  .meta({ id: 'Wait', description: 'What live workers wait for, as of their last heartbeats.' })

/** What live workers wait for: the longest of the waits of one kind. */
export type Wait = z.output<typeof WaitSchema>

export const RunDetailsSchema = RunSchema.extend({
  waiting: z
    .array(WaitSchema)
    .describe('What the workers of a run in progress wait for; empty if they do not wait.'),
  failuresByCause: z.array(FailureCauseSchema).describe('At most 20 causes, most frequent first.'),
  failuresByState: FailuresByStateSchema,
  resolvedBy: RunIdSchema.nullable().describe(
    'The run after which nothing of it is open: a later run of everything that succeeded, or the one that fetched its last failed scope. Null if there is none, or nothing went wrong.',
  ),
  retriedBy: z.array(RunIdSchema).describe('Its last ten retries, newest first.'),
  actions: z.array(ActionSchema).describe('The last ten actions of users, including the request.'),
  held: HeldSchema.describe('Listings that this run held and that are pending approval.'),
  heldWaiting: z.number().describe('Number of these listings.'),
  refused: HeldSchema.describe('Listings that this run held and whose removal was refused.'),
  rejectedRecords: z
    .array(RejectedRecordSchema)
    .describe('The last ten that were not stored later.'),
}).meta({ id: 'RunDetails' })

export type RunDetails = z.output<typeof RunDetailsSchema>

/** Finished scopes of a run. */
export function scopesDone(run: Run): number {
  return run.scopesSucceeded + run.scopesFailed + run.scopesHeld + run.scopesSkipped
}

/** All scopes of a run, as far as known. Continuous refresh plans none: its run has those that are done. */
export function scopesInAll(run: Run): number {
  return Math.max(run.scopesExpected, run.scopesPlanned, scopesDone(run))
}

export const NewRunSchema = z
  .strictObject({
    scope: ScopeSchema.optional(),
    add: AddSchema.optional(),
    failing: z
      .boolean('must be true or false')
      .optional()
      .describe('Only its scopes whose last fetch failed.'),
  })
  .meta({ id: 'NewRun', description: '`{}` requests the whole catalog.' })

export const StartRunJobSchema = NewRunSchema.extend({ requestedBy: JobRequestedBySchema })

/** A repeated key returns the run that it started the first time. */
export const IdempotencyKeySchema = text.max(255, 'must not be longer than 255 characters')

export const RetryRequestSchema = z.strictObject({
  idempotencyKey: IdempotencyKeySchema.optional(),
})

export const RunRequestSchema = RetryRequestSchema.extend(NewRunSchema.shape)

export const AcceptedRunSchema = z
  .object({
    runId: RunIdSchema,
    isNew: z.boolean().describe('False if the same Idempotency-Key started the run before.'),
    isDelivered: z
      .boolean()
      .describe('False if the queue is unreachable: a worker enqueues the run within a minute.'),
  })
  .meta({ id: 'AcceptedRun' })

export type RequestedRun = z.output<typeof AcceptedRunSchema>

export const RunsRequestSchema = PageRequestSchema.extend({
  status: z.enum(RUN_STATUSES, `must be one of ${RUN_STATUSES.join(', ')}`).optional(),
})
