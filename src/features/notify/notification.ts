import * as z from 'zod'
import type { SHOWN_COUNTS } from '../../schemas/counts.ts'
import type { MemberChange } from '../../schemas/member-change.ts'
import { ATTENTION } from '../../schemas/notification-type.ts'
import type { StoredScopeSchema } from '../../schemas/scope.ts'

/** A time as it comes out of PostgreSQL's JSON. */
const isoTime = z.string()

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
    // `night.ended` is what heartbeats receive.
    kind: z.enum(['run.finished', 'night.ended']),
    at: isoTime,
    runId: z.string(),
    trigger: z.string(),
    status: z.string(),
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

/** What is read of a run when its message is sent. */
interface RunRead {
  /** What it fetches; null if the run was pruned. */
  readonly request: string | null
  readonly requestedBy: string | null
  readonly cancelledBy: string | null
}

/** A run that finished, whatever its status. */
export type FinishedRun = Extract<Facts, { status: string }> &
  RunRead &
  Readonly<Record<keyof typeof SHOWN_COUNTS, number>> & {
    readonly scope: z.output<typeof StoredScopeSchema>
    /** As in reporting.nightly. */
    readonly completeUpTo: Date | null
    readonly durationMs: number
  }

/** A notification as it is sent. */
export type Notification =
  | Exclude<Facts, { kind: 'members.changed' } | { runId: string }>
  | (Extract<Facts, { scopesPlanned: number }> & RunRead)
  | FinishedRun
  /** Sent at the request of a person, and not stored. */
  | { readonly kind: 'test'; readonly at: string }
  | {
      readonly kind: 'members.changed'
      readonly at: string
      readonly members: number
      /** At most ten. */
      readonly first: readonly MemberChange[]
    }
