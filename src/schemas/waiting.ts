import * as z from 'zod'
import { RunIdSchema, text } from './check.ts'
import { OperationSchema, ScopeIdsSchema } from './scope.ts'

/** Users that are shown per held listing. */
export const MISSING_NAMED = 100

export const HeldListingSchema = z
  .object({
    heldId: z.number(),
    runId: RunIdSchema.describe('The run that last received the response.'),
    at: z.date().describe('When it was first received.'),
    kind: z.enum(['organization', 'document', 'group']),
    organizationId: z.string(),
    documentId: z.string().nullable(),
    organizationUserGroupId: z.string().nullable(),
    usersBefore: z.number(),
    usersReturned: z.number().describe('Users in the response.'),
    usersMissing: z.number().describe('Users who are missing from the response and stay.'),
    firstMissingUserIds: z.array(z.string()).readonly().describe('At most 100.'),
    repeats: z.number().describe('Later nightly runs that received the same response.'),
    decidedAt: z.date().nullable().describe('When the removal was refused; null while it is held.'),
    decidedBy: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .meta({
    id: 'HeldListing',
    description:
      'A listing that lost so many users that collab-sync removed none of them. The removal is held, or was refused.',
  })

export type HeldListing = z.output<typeof HeldListingSchema>

export const HeldSchema = z.object({
  listings: z.number(),
  people: z
    .number()
    .describe('Users missing from them. A user who is missing from several is counted once.'),
  first: z.array(HeldListingSchema).describe('At most ten, oldest first.'),
})

export type Held = z.output<typeof HeldSchema>

export const HeldIdSchema = z.int().min(1).max(Number.MAX_SAFE_INTEGER)

const reason = text.max(1000).describe('The reason; stored with the decision.')

export const AcceptHeldSchema = z.strictObject({
  runId: RunIdSchema.optional().describe(
    'The runId of the listing when it was read: a later run may have received another response.',
  ),
  reason: reason.optional(),
})

export const RefuseHeldSchema = AcceptHeldSchema.extend({ reason }).meta({ id: 'RefuseHeld' })

const heldBy = RunIdSchema.nullable().describe(
  'The run that held them; null if several runs may have.',
)

export const AcceptedHeldSchema = z
  .object({
    runId: heldBy,
    accepted: z.number().describe('Listings whose held removals were applied.'),
    removed: z.number().describe('Removed users, each counted once.'),
  })
  .meta({ id: 'AcceptedHeld' })

export type AcceptedHeld = z.output<typeof AcceptedHeldSchema>

export const RefusedHeldSchema = z
  .object({
    runId: heldBy,
    refused: z.number().describe('Listings whose held removals were refused.'),
    kept: z.number().describe('Users who stay, each counted once.'),
  })
  .meta({ id: 'RefusedHeld' })

export type RefusedHeld = z.output<typeof RefusedHeldSchema>

export const RECORD_CHARACTERS = 2000

export const RejectedRecordSchema = z
  .object({
    rejectedRecordId: z.number(),
    runId: RunIdSchema,
    at: z.date(),
    operation: OperationSchema,
    ...ScopeIdsSchema.shape,
    reason: z.string(),
    record: z.string().describe('JSON text as received, cut after 2,000 characters.'),
    isCut: z.boolean(),
    isWhole: z.boolean().describe('True if nothing of it is stored: its run is partial.'),
    isField: z.boolean().describe('True for a field of a record that was stored without it.'),
    firstSeenAt: z.date(),
    lastSeenAt: z.date().describe('Continuous refresh updates it at most once per hour.'),
    times: z.number().describe('How often it was received.'),
    goneAt: z
      .date()
      .nullable()
      .describe('When a complete response first lacked it; null while it is received.'),
    setAsideAt: z.date().nullable().describe('When it was set aside; null while it is open.'),
    setAsideBy: z.string().nullable(),
    setAsideReason: z.string().nullable(),
  })
  .meta({ id: 'RejectedRecord', description: 'A record, or part of one, that was not stored.' })

export type RejectedRecord = z.output<typeof RejectedRecordSchema>

const choice = {
  rejectedRecordIds: z.array(z.int().min(1)).min(1).max(1000).optional(),
  runId: RunIdSchema.optional().describe('All records that this run rejected, instead of IDs.'),
}

export const SetAsideSchema = z
  .strictObject({ ...choice, reason })
  .refine(
    ({ rejectedRecordIds, runId }) => (rejectedRecordIds === undefined) !== (runId === undefined),
    'either rejectedRecordIds or runId must be given',
  )
  .meta({ id: 'SetAside' })

export const SetAsideBySchema = SetAsideSchema.safeExtend({ by: text })

export type RejectedChoice = { readonly ids: readonly number[] } | { readonly runId: string }

export const SetAsideDoneSchema = z
  .object({
    changed: z.number().describe('Number of contents that were not set aside before.'),
  })
  .meta({ id: 'SetAsideDone' })

export type SetAsideDone = z.output<typeof SetAsideDoneSchema>
