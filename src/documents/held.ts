import * as z from 'zod'
import { RunIdSchema } from './check.ts'

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
    description: 'A listing that lacked so many of its users that nobody was removed.',
  })

/**
 * A listing that lacked so many of its users that nobody was removed. `runId` is the run that last saw the answer, `at` when
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

export const AcceptHeldSchema = z.strictObject({
  runId: RunIdSchema.optional().describe(
    'Of the listing as it was looked at: a later run may have seen another answer.',
  ),
})

export const AcceptedHeldSchema = z
  .object({
    runId: RunIdSchema.describe('The run that held them.'),
    accepted: z.number().describe('Listings whose held removals were applied.'),
    removed: z.number().describe('Users that were removed.'),
  })
  .meta({ id: 'AcceptedHeld' })

/** What an acceptance did. */
export type AcceptedHeld = z.output<typeof AcceptedHeldSchema>
