import * as z from 'zod'
import type { MemberChange } from '../../schemas/member-change.ts'

/** A time as it comes out of PostgreSQL's JSON. */
const isoTime = z.string()

/** The kinds of sync.attention that are sent: the type of the message for an open problem, and for its resolution. */
export const ATTENTION = {
  failing: ['scopes.failing', 'scopes.recovered'],
  overdue: ['freshness.passed', 'freshness.recovered'],
  held: ['held.waiting', 'held.settled'],
  rejected: ['rejected.waiting', 'rejected.settled'],
  catalog_held: ['catalog.held', 'catalog.settled'],
  catalog_failed: ['catalog.failed', 'catalog.recovered'],
  worker_blocked: ['worker.blocked', 'worker.recovered'],
  no_worker: ['worker.none', 'worker.back'],
  nightly_missed: ['nightly.missed', 'nightly.recovered'],
  nightly_late: ['nightly.late', 'nightly.recovered'],
  credentials: ['credentials.refused', 'credentials.accepted'],
  unreachable: ['service.unreachable', 'service.recovered'],
  throttled: ['service.throttled', 'service.recovered'],
  refresh_paused: ['refresh.paused', 'refresh.resumed'],
  lock_wait: ['lock.waiting', 'lock.released'],
  settings_differ: ['settings.differ', 'settings.agree'],
} as const

type Types = (typeof ATTENTION)[keyof typeof ATTENTION]

const TYPES: readonly Types[] = Object.values(ATTENTION)

/**
 * The stored part of a notification, as JSON. Names of record fields may contain personal data. They are read when the message
 * is sent, so that an erasure finds them in one table only; `words` is one of the columns that an erasure searches.
 */
export const Facts = z.discriminatedUnion('kind', [
  z.object({
    kind: z.enum(['run.failed', 'run.cancelled']),
    at: isoTime,
    runId: z.string(),
    trigger: z.string(),
    scopesPlanned: z.number(),
    scopesSucceeded: z.number(),
    scopesFailed: z.number(),
    scopesHeld: z.number(),
    scopesSkipped: z.number(),
  }),
  z.object({
    kind: z.enum(TYPES.map(([type]) => type)),
    at: isoTime,
    // The columns of sync.attention_by_kind.
    count: z.number(),
    organizations: z.number(),
    first: z.array(z.object({ organizationId: z.string(), count: z.number() })).nullable(),
    since: isoTime.nullable(),
    latest: isoTime.nullable(),
    sentence: z.string(),
    fix: z.string(),
    path: z.string(),
    words: z.string().nullable(),
  }),
  z.object({
    kind: z.enum(TYPES.map(([, resolved]) => resolved)),
    at: isoTime,
    /** Kinds of sync.attention that are still open and whose scopes are not counted. */
    exceptions: z.array(z.enum(['failing', 'held'])).optional(),
  }),
  z.object({
    kind: z.literal('members.changed'),
    at: isoTime,
    /** Rows of sync.member_changes. */
    numbers: z.array(z.number()),
  }),
])

export type Facts = z.infer<typeof Facts>

/** A notification as it is sent. */
export type Notification =
  | Exclude<Facts, { kind: 'members.changed' } | { runId: string }>
  | (Extract<Facts, { runId: string }> & {
      /** What it fetches; null if the run was pruned. */
      readonly request: string | null
      readonly requestedBy: string | null
      readonly cancelledBy: string | null
    })
  /** Sent by `doctor --notify`, and not stored. */
  | { readonly kind: 'test'; readonly at: string }
  | {
      readonly kind: 'members.changed'
      readonly at: string
      readonly members: number
      /** At most ten. */
      readonly first: readonly MemberChange[]
    }
