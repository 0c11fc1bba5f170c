import * as z from 'zod'
import { RunIdSchema, text } from './check.ts'
import { OperationSchema, ScopeIdsSchema } from './scope.ts'

/** Users that a held listing is shown with. */
export const MISSING_NAMED = 100

export const HeldListingSchema = z
  .object({
    heldId: z.number(),
    runId: RunIdSchema.describe('The run that last saw the answer.'),
    at: z.date().describe('When it was first seen.'),
    kind: z.enum(['organization', 'document', 'group']),
    organizationId: z.string(),
    documentId: z.string().nullable(),
    organizationUserGroupId: z.string().nullable(),
    usersBefore: z.number(),
    usersMissing: z.number(),
    firstMissingUserIds: z.array(z.string()).readonly().describe('At most 100 of them.'),
    repeats: z.number().describe('Later scheduled runs in which the same answer came again.'),
  })
  .meta({
    id: 'HeldListing',
    description: 'A listing that lost so many users that collab-sync removed none of them.',
  })

/**
 * A listing that lost so many users that collab-sync removed none of them. `runId` is the run that last saw the answer, `at` when
 * it was first seen, `repeats` the later scheduled runs in which it came again; 100 of the missing users are named at most.
 */
export type HeldListing = z.output<typeof HeldListingSchema>

/** Listings that are held and wait for a person. */
export const HeldSchema = z.object({
  listings: z.number(),
  first: z.array(HeldListingSchema).describe('Ten at most, the one first held first.'),
})

export type Held = z.output<typeof HeldSchema>

/** What a held listing is known by. */
export const HeldIdSchema = z.int().min(1).max(Number.MAX_SAFE_INTEGER)

const reason = text.max(1000).describe('Why; kept with it.')

export const AcceptHeldSchema = z.strictObject({
  runId: RunIdSchema.optional().describe(
    'Of the listing as it was looked at: a later run may have seen another answer.',
  ),
  reason: reason.optional(),
})

export const RefuseHeldSchema = AcceptHeldSchema.extend({ reason }).meta({ id: 'RefuseHeld' })

export const AcceptedHeldSchema = z
  .object({
    runId: RunIdSchema.nullable().describe('The run that held them; null where several may have.'),
    accepted: z.number().describe('Listings whose held removals were applied.'),
    removed: z.number().describe('Users that were removed.'),
  })
  .meta({ id: 'AcceptedHeld' })

/** What an acceptance did. */
export type AcceptedHeld = z.output<typeof AcceptedHeldSchema>

export const RefusedHeldSchema = z
  .object({
    runId: RunIdSchema.nullable().describe('The run that held them; null where several may have.'),
    refused: z.number().describe('Listings whose held removals were refused.'),
    kept: z.number().describe('Users that stay.'),
  })
  .meta({ id: 'RefusedHeld' })

/** What a refusal did. */
export type RefusedHeld = z.output<typeof RefusedHeldSchema>

/** A record is shown up to here. */
export const RECORD_CHARACTERS = 2000

export const RejectedRecordSchema = z
  .object({
    rejectedRecordId: z.number(),
    runId: RunIdSchema,
    at: z.date(),
    operation: OperationSchema,
    ...ScopeIdsSchema.shape,
    reason: z.string(),
    record: z.string().describe('JSON text as it was received, cut after 2,000 characters.'),
    isCut: z.boolean(),
    isWhole: z.boolean().describe('True where nothing of it is stored: its run is partial.'),
    firstSeenAt: z.date(),
    lastSeenAt: z.date().describe('By continuous refresh at most once an hour.'),
    times: z.number().describe('How often it was noted.'),
    goneAt: z
      .date()
      .nullable()
      .describe('When its scope first answered whole without it; null while it is there.'),
    setAsideAt: z.date().nullable().describe('When a person set it aside; null while it is open.'),
    setAsideBy: z.string().nullable(),
    setAsideReason: z.string().nullable(),
  })
  .meta({ id: 'RejectedRecord', description: 'A record, or part of one, that was not stored.' })

/**
 * A record, or a member of one, that could not be stored: its JSON text as received, cut after 2,000 characters. Where it
 * `isWhole`, nothing of it is stored. What a person set aside has the time at which, who did it, and why.
 */
export type RejectedRecord = z.output<typeof RejectedRecordSchema>

const choice = {
  rejectedRecordIds: z.array(z.int().min(1)).min(1).max(1000).optional(),
  runId: RunIdSchema.optional().describe('All that this run rejected, in place of the ids.'),
}

export const SetAsideSchema = z
  .strictObject({ ...choice, reason: text.max(1000).describe('Why; kept with it.') })
  .refine(
    ({ rejectedRecordIds, runId }) => (rejectedRecordIds === undefined) !== (runId === undefined),
    'either rejectedRecordIds or runId must be given',
  )
  .meta({ id: 'SetAside' })

/** The same with who does it. */
export const SetAsideBySchema = SetAsideSchema.safeExtend({ by: text })

/** Rejected records, by their ids or all of a run. */
export type RejectedChoice = { readonly ids: readonly number[] } | { readonly runId: string }

export const SetAsideDoneSchema = z
  .object({
    changed: z.number().describe('Contents that were not set aside before.'),
  })
  .meta({ id: 'SetAsideDone' })

/** What setting aside did. */
export type SetAsideDone = z.output<typeof SetAsideDoneSchema>
