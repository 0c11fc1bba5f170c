import * as z from 'zod'
import { RUN_STATUSES } from '../../database/run-reports.ts'

/** The schemas of what the API answers with, which the OpenAPI document names as its components. */

const operation = z.enum(['users', 'comments'])
const nullableText = z.string().nullable()
const time = z.date()
const nullableTime = time.nullable()

const ids = {
  organizationId: nullableText.optional(),
  documentId: nullableText.optional(),
  annotationId: nullableText.optional(),
  organizationUserGroupId: nullableText.optional(),
}

/** As it is stored: of a scope that was checked when it was asked for. */
const StoredScopeSchema = z
  .object({
    organizationIds: z.array(z.string()).optional(),
    documentId: z.string().optional(),
    annotationId: z.string().optional(),
    commentIds: z.array(z.number()).optional(),
    userIds: z.array(z.string()).optional(),
    organizationUserGroupIds: z.array(z.string()).optional(),
    operations: z.array(operation).optional(),
  })
  .describe('What the run was narrowed to; empty for everything in the catalog.')

const run = {
  runId: z.guid(),
  trigger: z.enum(['schedule', 'cli', 'http', 'api']).describe('Who asked for it.'),
  status: z.enum(RUN_STATUSES),
  scope: StoredScopeSchema,
  requestedAt: time,
  startedAt: nullableTime,
  finishedAt: nullableTime,
  stopping: z.enum(['failed', 'cancelled']).nullable().describe('What it is about to end as.'),
  problem: nullableText.describe('Why it failed or was cancelled, in one sentence.'),
  readAt: time.describe('When these numbers were read.'),
  durationMs: z.number().describe('From its start until its end, or until now.'),
  scopesExpected: z.number().describe('The denominator of its progress.'),
  scopesPlanned: z.number(),
  scopesSucceeded: z.number(),
  scopesFailed: z.number(),
  scopesHeld: z.number(),
  scopesSkipped: z.number(),
  calls: z.number().describe('Calls to the service, retries included.'),
  retries: z.number(),
  recordsReceived: z.number(),
  recordsInserted: z.number(),
  recordsUpdated: z.number(),
  recordsUnchanged: z.number(),
  recordsRejected: z.number(),
  organizationsDone: z.number(),
  documentsDone: z.number(),
  groupsDone: z.number(),
  annotationsDone: z.number(),
  usersWritten: z.number(),
  commentsWritten: z.number(),
  commentsDeleted: z.number(),
}

export const RunSchema = z.object(run).meta({ id: 'Run' })

const FailureCauseSchema = z
  .object({
    operation,
    httpStatus: z.number().nullable(),
    errorStatus: nullableText,
    errorMessage: nullableText,
    scopes: z.number(),
    organizations: z.number(),
    attempts: z.number().describe('Most calls made for one of the scopes.'),
    examples: z.array(z.object(ids)).describe('The first three of the scopes.'),
  })
  .meta({ id: 'FailureCause' })

export const RunDetailsSchema = z
  .object({
    ...run,
    failuresByCause: z
      .array(FailureCauseSchema)
      .describe('20 causes at most, the most frequent first.'),
    heldWaiting: z.number().describe('Listings that this run held and that still wait.'),
  })
  .meta({ id: 'RunDetails' })

export const AcceptedRunSchema = z
  .object({
    runId: z.guid(),
    isNew: z.boolean().describe('False where the same Idempotency-Key had made the run before.'),
    isDelivered: z
      .boolean()
      .describe('False where the queue is away: a worker takes the run up within a minute.'),
  })
  .meta({ id: 'AcceptedRun' })

export const FailureSchema = z
  .object({
    runId: z.guid(),
    at: time,
    operation,
    ...ids,
    httpStatus: z.number().nullable(),
    errorStatus: nullableText,
    errorMessage: nullableText,
    attempts: z.number(),
  })
  .meta({ id: 'Failure', description: 'A scope of a run that gave no usable answer.' })

export const RejectedRecordSchema = z
  .object({
    rejectedRecordId: z.number(),
    runId: z.guid(),
    at: time,
    operation,
    ...ids,
    reason: z.string(),
    record: z.string().describe('JSON text as it was received, cut after 2,000 characters.'),
    isCut: z.boolean(),
    isWhole: z.boolean().describe('True where nothing of it is stored: its run is partial.'),
  })
  .meta({ id: 'RejectedRecord', description: 'A record, or part of one, that was not stored.' })

export const HeldListingSchema = z
  .object({
    heldId: z.number(),
    runId: z.guid(),
    at: time,
    kind: z.enum(['organization', 'document', 'group']),
    organizationId: z.string(),
    documentId: nullableText,
    organizationUserGroupId: nullableText,
    usersBefore: z.number(),
    usersMissing: z.number(),
    firstMissingUserIds: z.array(z.string()).describe('At most 100 of them.'),
    repeats: z.number().describe('Later scheduled runs in which the same answer came again.'),
  })
  .meta({
    id: 'HeldListing',
    description: 'A listing that lacked so many of its users that nobody was removed.',
  })

const freshness = {
  scopes: z.number(),
  annotations: z.number(),
  neverChecked: z.number(),
  oldestCheck: nullableTime,
  newestCheck: nullableTime,
}

export const FreshnessSchema = z.object(freshness).meta({ id: 'Freshness' })

export const OrganizationSchema = z
  .object({
    organizationId: z.string(),
    active: z.boolean(),
    comments: z.number(),
    ...freshness,
    failing: z.number().describe('Scopes that failed when they were last asked for.'),
    held: z.number(),
  })
  .meta({ id: 'Organization' })

export const ScheduleSchema = z
  .object({
    cron: nullableText.describe('Null where there is no nightly run.'),
    timeZone: z.string().describe('IANA name.'),
    setBy: z.enum(['settings', 'schedule set', 'schedule remove']),
    next: nullableTime,
  })
  .meta({ id: 'Schedule' })

export const AcceptedHeldSchema = z
  .object({ removed: z.number().describe('Users that were removed.') })
  .meta({ id: 'AcceptedHeld' })

export const SetAsideDoneSchema = z
  .object({ setAside: z.number().describe('Contents that were not set aside before.') })
  .meta({ id: 'SetAsideDone' })

export const ReplayedSchema = z
  .object({
    replayed: z.number().describe('Stored now.'),
    stillRejected: z.number(),
    obsolete: z.number().describe('A newer answer has spoken of them since.'),
  })
  .meta({ id: 'Replayed' })
