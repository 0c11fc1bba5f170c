import * as z from 'zod'
import { PageRequestSchema } from './page.ts'

/** Kinds of sync.attention. */
export const ATTENTION_KINDS = [
  'failing',
  'overdue',
  'never_checked',
  'held',
  'rejected',
  'catalog_held',
  'catalog_failed',
  'worker_blocked',
  'no_worker',
  'nightly_missed',
  'nightly_late',
  'credentials',
  'unreachable',
  'throttled',
  'refresh_paused',
  'settings_differ',
  'catalog_empty',
  'no_schedule',
] as const

export const AttentionSchema = z
  .object({
    kind: z.enum(ATTENTION_KINDS),
    urgency: z.enum(['high', 'medium', 'low']),
    organizationId: z
      .string()
      .nullable()
      .describe('Null where it concerns the whole installation.'),
    count: z.number().describe('How many scopes, listings, records, workers or settings.'),
    since: z.date().nullable().describe('When it began; null where that is not known.'),
    latest: z.date().nullable().describe('When it last grew.'),
    sentence: z.string().describe('What is wrong.'),
    fix: z.string().describe('What to do about it on a command line.'),
    path: z.string().describe('The page that shows it.'),
    words: z
      .string()
      .nullable()
      .describe('What the service, a database or a worker said; null where nobody did.'),
  })
  .meta({ id: 'Attention' })

/** What is wrong now and needs a person, of one kind; one row for each organization where it belongs to organizations. */
export type Attention = z.output<typeof AttentionSchema>

export const AttentionByKindSchema = AttentionSchema.omit({ organizationId: true }).extend({
  /** 0 where it concerns the whole installation. */
  organizations: z.number(),
  /** The five organizations with the highest counts. */
  first: z
    .array(z.object({ organizationId: z.string(), count: z.number() }))
    .nullable()
    .transform((first) => first ?? []),
})

/** The same, one row a kind. */
export type AttentionByKind = z.output<typeof AttentionByKindSchema>

export const AttentionRequestSchema = PageRequestSchema.extend({
  kind: z.enum(ATTENTION_KINDS).optional().describe('Only of this kind.'),
})
