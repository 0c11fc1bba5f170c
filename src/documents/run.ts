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

const RUN_STATUSES = ['queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled'] as const

export type RunStatus = (typeof RUN_STATUSES)[number]

const TriggerSchema = z
  .enum(['schedule', 'cli', 'http', 'api', 'hint', 'refresh'])
  .describe('Who asked for it.')

/** Who asked for a run. */
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
    stopping: z.enum(['failed', 'cancelled']).nullable().describe('What it is about to end as.'),
    problem: z.string().nullable().describe('Why it failed or was cancelled, in one sentence.'),
    requestedBy: z
      .string()
      .nullable()
      .describe('Who requested it, as in `Action`; null where nobody did, as for a nightly run.'),
    retryOf: RunIdSchema.nullable().describe('The run whose failed scopes it requests again.'),
    failing: z.boolean().describe('True if it requests only the scopes that failed at that time.'),
    readAt: z.date().describe('When PostgreSQL read these numbers.'),
    durationMs: z.number().describe('From its start until its end, or until now.'),
    workersGone: z.boolean().describe('True where it is under way and no worker is alive.'),
    scopesExpected: z.number().describe('The denominator of its progress, as of its begin.'),
    ...countFields,
  })
  .meta({ id: 'Run' })

/** A run; the counts of one under way are those so far. */
export type Run = z.output<typeof RunSchema>

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
    state: z
      .enum(['failing', 'resolved', 'left_catalog'])
      .describe(
        'Whether the scope still fails, returned a usable response since, or is no longer in the catalog.',
      ),
    resolvedAt: z.date().nullable(),
    resolvedBy: RunIdSchema.nullable().describe('The run that resolved it; it may be pruned.'),
  })
  .meta({ id: 'Failure', description: 'A scope of a run that gave no usable answer.' })

/** One scope of a run that gave no usable answer, after so many `attempts`. */
export type Failure = z.output<typeof FailureSchema>

const FailuresByStateSchema = z
  .object({ failing: z.number(), resolved: z.number(), leftCatalog: z.number() })
  .meta({
    id: 'FailuresByState',
    description:
      'Failed scopes by what became of them since: they still fail, returned a usable response, or left the catalog.',
  })

/** What became of failed scopes since. */
export type FailuresByState = z.output<typeof FailuresByStateSchema>

export const FailureCauseSchema = z
  .object({
    operation: OperationSchema,
    ...answer,
    scopes: z.number(),
    organizations: z.number(),
    attempts: z.number().describe('Most calls made for one of the scopes.'),
    ...FailuresByStateSchema.shape,
    resolvedBy: z
      .array(RunIdSchema)
      .readonly()
      .describe('The last five of the runs that resolved some of them.'),
    examples: z.array(SomeIdsSchema).describe('The first three of the scopes.'),
  })
  .meta({ id: 'FailureCause' })

/** Why scopes of a run failed, with the first three that did; `attempts` are the most calls made for one of them. */
export type FailureReport = z.output<typeof FailureCauseSchema>

export const FailuresRequestSchema = OfRunRequestSchema.extend({
  organizationId: id.optional(),
})

export const WaitSchema = z
  .object({
    kind: z.enum(['throttled', 'rate_limit', 'away', 'overtaken', 'queue', 'paused', 'idle']),
    since: z.date(),
    until: z.date().nullable().describe('When the next try is made, where that is known.'),
    givesUpAt: z.date().nullable().describe('When the wait ends without success, at the latest.'),
    sentence: z.string(),
    workers: z.number().describe('How many workers wait for this.'),
    ofWorkers: z.number().describe('How many workers were asked.'),
  })
  .meta({ id: 'Wait', description: 'What live workers wait for, as of their last heartbeats.' })

/** What live workers wait for: the longest of the waits of one kind. */
export type Wait = z.output<typeof WaitSchema>

export const RunDetailsSchema = RunSchema.extend({
  waiting: z
    .array(WaitSchema)
    .describe('What the workers of a run under way wait for; empty where they work.'),
  failuresByCause: z
    .array(FailureCauseSchema)
    .describe('20 causes at most, the most frequent first.'),
  failuresByState: FailuresByStateSchema,
  retriedBy: z.array(RunIdSchema).describe('The last ten retries of it, the newest first.'),
  actions: z
    .array(ActionSchema)
    .describe('The last ten things that users did to it, its request included.'),
  held: HeldSchema.describe('Listings that this run held and that still wait.'),
  heldWaiting: z.number().describe('How many of them there are.'),
  rejectedRecords: z
    .array(RejectedRecordSchema)
    .describe('The last ten that were not stored since.'),
}).meta({ id: 'RunDetails' })

/** A run with what a person needs to decide what to do about it. */
export type RunDetails = z.output<typeof RunDetailsSchema>

/** Scopes of a run that are settled, one way or the other. */
export function scopesDone(run: Run): number {
  return run.scopesSucceeded + run.scopesFailed + run.scopesHeld + run.scopesSkipped
}

/** Scopes of a run in all, as far as that is known. */
export function scopesInAll(run: Run): number {
  return Math.max(run.scopesExpected, run.scopesPlanned)
}

/** The body of a request for a run. */
export const NewRunSchema = z
  .strictObject({
    scope: ScopeSchema.optional(),
    add: AddSchema.optional(),
    failing: z
      .boolean('must be true or false')
      .optional()
      .describe('Only those scopes of it that fail now: their last fetch failed.'),
  })
  .meta({ id: 'NewRun', description: '`{}` asks for everything in the catalog.' })

/** The data of a `start-run` job. */
export const StartRunJobSchema = NewRunSchema.extend({ requestedBy: JobRequestedBySchema })

/** The same key again gives the run that it made the first time. */
export const IdempotencyKeySchema = text.max(255, 'must not be longer than 255 characters')

export const RetryRequestSchema = z.strictObject({
  idempotencyKey: IdempotencyKeySchema.optional(),
})

export const RunRequestSchema = RetryRequestSchema.extend(NewRunSchema.shape)

export const AcceptedRunSchema = z
  .object({
    runId: RunIdSchema,
    isNew: z.boolean().describe('False where the same Idempotency-Key had made the run before.'),
    isDelivered: z
      .boolean()
      .describe('False where the queue is away: a worker takes the run up within a minute.'),
  })
  .meta({ id: 'AcceptedRun' })

/** What became of asking for a run. */
export type RequestedRun = z.output<typeof AcceptedRunSchema>

export const RunsRequestSchema = PageRequestSchema.extend({
  status: z.enum(RUN_STATUSES, `must be one of ${RUN_STATUSES.join(', ')}`).optional(),
})
