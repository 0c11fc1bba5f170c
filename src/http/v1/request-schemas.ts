import * as z from 'zod'
import { CURSOR_CHARACTERS_MAX } from '../../client/listings.ts'
import { cronPattern, timeZone } from '../../settings/parse.ts'

/** The schemas of what the API is asked with. Whatever they do not name is refused by its name. */

/** Text that PostgreSQL can hold: without NUL, and without half of a surrogate pair. */
export const text = z
  .string()
  .min(1)
  .regex(/^[^\0]*$/, 'must not hold a NUL character')
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode')

const texts = z.array(text).min(1)

export const RunIdSchema = z.strictObject({ runId: z.guid('must be the id of a run, a UUID') })

export const HeldIdSchema = z.strictObject({
  heldId: wholeNumber(1, Number.MAX_SAFE_INTEGER).describe('As GET /v1/held gives it.'),
})

export const ScopeSchema = z
  .strictObject({
    organizationIds: texts.optional(),
    documentId: text.optional().describe('Needs exactly one organization.'),
    annotationId: text.optional().describe('Needs documentId.'),
    commentIds: z.array(z.int()).min(1).optional().describe('Needs annotationId.'),
    userIds: texts.optional(),
    organizationUserGroupIds: texts.optional(),
    operations: z
      .array(z.enum(['users', 'comments']))
      .min(1)
      .optional(),
  })
  .meta({ id: 'Scope', description: 'What to narrow the run to.' })

export const NewRunSchema = z
  .strictObject({ scope: ScopeSchema.optional() })
  .meta({ id: 'NewRun', description: '`{}` asks for everything in the catalog.' })

/** Other headers are none of our business. */
export const IdempotencySchema = z.looseObject({
  'idempotency-key': z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters')
    .optional()
    .describe('The same key again gives the run that it made the first time.'),
})

const page = {
  limit: wholeNumber(1, 500).optional().describe('At most so many items; 50 when left out.'),
  cursor: z
    .string()
    .max(CURSOR_CHARACTERS_MAX)
    .regex(/^[\w-]+$/, 'must be the nextCursor of a page before')
    .optional()
    .describe('The nextCursor of the page before.'),
}

/** A listing's query: its page, and what it is narrowed to. */
export function pageOf<T extends z.core.$ZodLooseShape>(narrowing: T) {
  return z.strictObject({ ...page, ...narrowing })
}

export const NewScheduleSchema = z
  .strictObject({
    cron: checkedBy(cronPattern).describe(
      'Five fields (minute, hour, day, month, weekday), or six with seconds first.',
    ),
    timeZone: checkedBy(timeZone).optional().describe('IANA name; SYNC_TZ when left out.'),
  })
  .meta({ id: 'NewSchedule' })

export const AcceptHeldSchema = z.strictObject({
  runId: z
    .guid()
    .optional()
    .describe('Of the listing as it was looked at: a later run may have seen another answer.'),
})

export const ReplaySchema = z
  .strictObject({ runId: z.guid().optional().describe('Only what this run rejected.') })
  .meta({ id: 'Replay' })

export const SetAsideSchema = z
  .strictObject({
    rejectedRecordIds: z.array(z.int().min(1)).min(1).max(1000).optional(),
    runId: z.guid().optional().describe('All that this run rejected, in place of the ids.'),
    reason: text.max(1000).describe('Why; kept with it.'),
  })
  .refine(
    ({ rejectedRecordIds, runId }) => (rejectedRecordIds === undefined) !== (runId === undefined),
    'give either rejectedRecordIds or runId',
  )
  .meta({ id: 'SetAside' })

/** Paths and queries hold text: digits and nothing else are a number. */
function wholeNumber(min: number, max: number) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value),
    z.int().min(min).max(max),
  )
}

/** Text that a setting's parser takes, which the settings and the API are to agree on. */
function checkedBy(parser: z.ZodType<string, string>) {
  return text.max(200).superRefine((value, context) => {
    const parsed = parser.safeParse(value)
    if (!parsed.success)
      context.addIssue({ code: 'custom', message: parsed.error.issues[0]?.message ?? '' })
  })
}
