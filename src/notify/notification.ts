import * as z from 'zod'
import type { MemberChange } from '../documents/member-change.ts'

/** A time as it comes out of PostgreSQL's JSON. */
const isoTime = z.string()

/** Held listings by their ids, five at most. */
export const HeldFirst = z.array(
  z.object({
    heldId: z.number(),
    kind: z.enum(['organization', 'document', 'group']),
    organizationId: z.string(),
    documentId: z.string().optional(),
    organizationUserGroupId: z.string().optional(),
    usersMissing: z.number(),
  }),
)

/**
 * What is kept of a notification, by its kind; stored as JSON, so only what JSON has. Nothing in it was written by a
 * person. What may be, such as the names of members that records have, is read when the message is sent, so that an
 * erasure has one place to look at.
 */
export const Facts = z.discriminatedUnion('kind', [
  z.object({
    kind: z.enum(['run.failed', 'run.partial', 'run.cancelled']),
    at: isoTime,
    runId: z.string(),
    trigger: z.string(),
    scopesPlanned: z.number(),
    scopesSucceeded: z.number(),
    scopesFailed: z.number(),
    scopesHeld: z.number(),
    scopesSkipped: z.number(),
    /** Whole records that were rejected and not set aside; left out by versions that did not count them. */
    recordsRejected: z.number().optional(),
  }),
  z.object({
    kind: z.literal('run.recovered'),
    runId: z.string(),
    trigger: z.string(),
    at: isoTime,
    /** Earlier runs that this one makes good. */
    problems: z.number(),
  }),
  z.object({
    kind: z.literal('held.waiting'),
    runId: z.string(),
    at: isoTime,
    listings: z.number(),
    usersMissing: z.number(),
    first: HeldFirst,
  }),
  z.object({ kind: z.literal('held.settled'), at: isoTime }),
  z.object({
    kind: z.literal('nightly.missed'),
    at: isoTime,
    dueAt: isoTime,
    cron: z.string(),
    timeZone: z.string(),
  }),
  z.object({
    kind: z.literal('nightly.late'),
    runId: z.string(),
    at: isoTime,
    dueAt: isoTime,
    runningS: z.number(),
    usualS: z.number(),
  }),
  z.object({ kind: z.literal('nightly.recovered'), runId: z.string(), at: isoTime }),
  z.object({
    kind: z.enum(['freshness.passed', 'freshness.recovered']),
    at: isoTime,
    oldestCheck: isoTime.nullable(),
    promiseS: z.number(),
    neverChecked: z.number(),
    // Absent from what was noted before they were counted.
    failing: z.number().optional(),
    stale: z.number().optional(),
    overdue: z.number().optional(),
  }),
  z.object({
    kind: z.literal('catalog.held'),
    at: isoTime,
    importId: z.number(),
    source: z.string(),
    scopes: z.number().nullable(),
    lacking: z.number().nullable(),
    organizations: z.number().nullable(),
    firstOrganizationId: z.string().nullable(),
  }),
  z.object({
    kind: z.literal('catalog.failed'),
    at: isoTime,
    importId: z.number(),
    source: z.string(),
    problem: z.string().nullable(),
  }),
  z.object({ kind: z.enum(['catalog.settled', 'catalog.recovered']), at: isoTime }),
  z.object({
    kind: z.literal('worker.blocked'),
    at: isoTime,
    /** Workers that are blocked; the other members are of the one that has been for longest. */
    workers: z.number(),
    workerId: z.string(),
    since: isoTime,
    problem: z.string(),
  }),
  z.object({ kind: z.literal('worker.recovered'), at: isoTime }),
  z.object({
    kind: z.literal('members.changed'),
    at: isoTime,
    /** Rows of sync.member_changes. */
    numbers: z.array(z.number()),
  }),
])

export type Facts = z.infer<typeof Facts>

/** What people are notified of: facts, and what is read for them when they are sent. */
export type Notification =
  | Exclude<Facts, { kind: 'members.changed' }>
  | {
      readonly kind: 'members.changed'
      readonly at: string
      readonly members: number
      /** Ten of them at most. */
      readonly first: readonly MemberChange[]
    }
