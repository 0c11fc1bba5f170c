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
  'paused_by_person',
  'lock_wait',
  'settings_differ',
  'catalog_empty',
] as const

export const AttentionSchema = z
  .object({
    kind: z.enum(ATTENTION_KINDS),
    urgency: z.enum(['high', 'medium', 'low']),
    organizationId: z.string().nullable().describe('Null if it concerns the whole installation.'),
    count: z
      .number()
      .describe('Number of scopes, listings, records, workers, statements or settings.'),
    since: z.date().nullable().describe('When it began; null if unknown.'),
    latest: z.date().nullable().describe('When it last grew.'),
    sentence: z.string().describe('The problem.'),
    fix: z.string().describe('What an operator can do about it.'),
    path: z.string().describe('The page of `serve` that shows it.'),
    words: z
      .string()
      .nullable()
      .describe(
        'A message of the service, a database or a worker, or when the transaction that has a lock began; null if there is none.',
      ),
  })
  .meta({ id: 'Attention' })

/** An open problem; problems of organizations have one row per organization. */
export type Attention = z.output<typeof AttentionSchema>

export const AttentionByKindSchema = AttentionSchema.omit({ organizationId: true }).extend({
  /** 0 if it concerns the whole installation. */
  organizations: z.number(),
  /** The five organizations with the highest counts. */
  first: z
    .array(z.object({ organizationId: z.string(), count: z.number() }))
    .nullable()
    .transform((first) => first ?? []),
})

/** Open problems of one kind. */
export type AttentionByKind = z.output<typeof AttentionByKindSchema>

export const AttentionRequestSchema = PageRequestSchema.extend({
  kind: z.enum(ATTENTION_KINDS).optional().describe('Only of this kind.'),
})
