import * as z from 'zod'
import { RunIdSchema, text } from './check.ts'
import { OperationSchema, ScopeIdsSchema } from './scope.ts'

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
    cut: z.boolean().meta({ description: 'The same as isCut.', deprecated: true }),
    isWhole: z.boolean().describe('True where nothing of it is stored: its run is partial.'),
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
    setAside: z.number().describe('Contents that were not set aside before.'),
    changed: z.number().describe('The same.'),
  })
  .meta({ id: 'SetAsideDone' })

/** What setting aside did. */
export type SetAsideDone = z.output<typeof SetAsideDoneSchema>

export const ReplaySchema = z
  .strictObject({ runId: RunIdSchema.optional().describe('Only what this run rejected.') })
  .meta({ id: 'Replay' })

export const ReplayedSchema = z
  .object({
    runId: RunIdSchema.optional().describe('The run whose records were tried; none for all.'),
    tried: z.number().describe('Records that were looked at.'),
    stored: z.number().describe('Of these, those that are stored now.'),
    still: z.number().describe('Of these, the others.'),
    obsolete: z.number().describe('Of the others, those of which a newer answer has spoken since.'),
    replayed: z.number().describe('The same as stored.'),
    stillRejected: z.number().describe('Of the others, those that are not obsolete.'),
  })
  .meta({ id: 'Replayed' })

/**
 * What a replay did: records that were stored (`stored`, `replayed`), are as unsound as they were (`stillRejected`), or are
 * sound but no longer what is to be stored, since something newer is known or the catalog lacks their scope (`obsolete`).
 */
export type Replayed = z.output<typeof ReplayedSchema>
