import type { Client } from './pool.ts'
import { sql } from './sql.ts'

/** What there is to become well again. */
export type Subject = 'run' | 'held' | 'nightly' | 'freshness'

/** A thing to tell, named so that it is told once. */
export interface NewNotification {
  readonly thing: string
  readonly kind: string
  /** Null where nothing is to become well again. */
  readonly subject: Subject | null
  readonly runId: string | null
  /** Ids, counts and times; becomes JSON. */
  readonly facts: object
}

/** Whoever looks for something to tell, and since when. */
export interface Turn {
  /** PostgreSQL's clock. */
  readonly now: Date
  readonly watchingSince: Date
  /** Since when the nightly schedule is known as it is. */
  readonly scheduleSince: Date
}

/**
 * Takes the turn to look, for as long as the transaction lasts.
 * @param schedule the nightly schedule as one text; null leaves what is known of it
 * @returns null where another worker looks, or has looked just now
 */
export async function takeTurn(
  client: Client,
  secondsBetween: number,
  schedule: string | null,
): Promise<Turn | null> {
  const { rows } = await client.query(sql('notify/take-turn'), [secondsBetween, schedule])
  const row = rows[0]
  if (row === undefined) return null
  return { now: row.now, watchingSince: row.watching_since, scheduleSince: row.schedule_since }
}

/** Notes a thing with a delivery to each receiver; harmless where it is noted already. */
export async function noteThing(
  client: Client,
  { thing, kind, subject, runId, facts }: NewNotification,
  receivers: readonly string[],
): Promise<void> {
  await client.query(sql('notify/note'), [thing, kind, subject, runId, facts, receivers])
}

/** A run that ended other than `succeeded`. */
export interface EndedRun {
  readonly runId: string
  readonly trigger: string
  readonly status: 'partial' | 'failed' | 'cancelled'
  readonly finishedAt: Date
  readonly scopesPlanned: number
  readonly scopesSucceeded: number
  readonly scopesFailed: number
  readonly scopesHeld: number
  readonly scopesSkipped: number
  /** Whole records that were rejected and not set aside; left out by versions that did not count them. */
  readonly recordsRejected?: number
}

/** Runs that ended other than `succeeded` since then, and are not noted yet. */
export async function readEndedRuns(client: Client, since: Date): Promise<EndedRun[]> {
  const { rows } = await client.query(sql('notify/ended-runs'), [since])
  return rows.map((row) => ({
    runId: row.run_id,
    trigger: row.trigger,
    status: row.status,
    finishedAt: row.finished_at,
    scopesPlanned: row.scopes_planned,
    scopesSucceeded: row.scopes_succeeded,
    scopesFailed: row.scopes_failed,
    scopesHeld: row.scopes_held,
    scopesSkipped: row.scopes_skipped,
    recordsRejected: row.rejected,
  }))
}

/** A held listing, by its ids. */
export interface HeldIds {
  readonly heldId: number
  readonly kind: 'organization' | 'document' | 'group'
  readonly organizationId: string
  readonly documentId?: string
  readonly organizationUserGroupId?: string
  readonly usersMissing: number
}

/** Listings held since the last look, of runs that are over. */
export interface NewlyHeld {
  readonly listings: number
  readonly usersMissing: number
  readonly firstHeldId: number
  readonly runId: string
  /** Five at most. */
  readonly first: readonly HeldIds[]
}

/** Marks newly held listings as told. @returns null where there is none */
export async function tellHeld(client: Client): Promise<NewlyHeld | null> {
  const { rows } = await client.query(sql('notify/tell-held'))
  const row = rows[0]
  if (row.listings === 0) return null
  return {
    listings: row.listings,
    usersMissing: row.users_missing,
    firstHeldId: row.first_held_id,
    runId: row.run_id,
    first: row.first,
  }
}

/** Whether a listing that was told still waits. */
export async function anyToldHeld(client: Client): Promise<boolean> {
  const { rows } = await client.query(sql('notify/any-held'))
  return rows[0].waits
}

/** Scheduled runs, as far as they tell whether the nightly one is there and in time. */
export interface NightlyRuns {
  /** Whether one began since the last was due. */
  readonly began: boolean
  readonly running: {
    readonly runId: string
    readonly requestedAt: Date
    readonly runningS: number
  } | null
  /** Runs that the usual time is taken from: none, and it is not known. */
  readonly usualOf: number
  /** Median, in seconds. */
  readonly usualS: number | null
}

export async function readNightlyRuns(client: Client, dueAt: Date): Promise<NightlyRuns> {
  const { rows } = await client.query(sql('notify/nightly'), [dueAt])
  const row = rows[0]
  return {
    began: row.began,
    running:
      row.run_id === null
        ? null
        : { runId: row.run_id, requestedAt: row.requested_at, runningS: row.running_s },
    usualOf: row.usual_of,
    usualS: row.usual_s,
  }
}

/** A run by which something became well again. */
export interface GoodRun {
  readonly runId: string
  readonly finishedAt: Date
  /** Messages that it makes well. */
  readonly problems: number
}

/** Marks as well what was told of runs whose work has succeeded since. */
export async function markRunsWell(client: Client): Promise<(GoodRun & { trigger: string })[]> {
  const { rows } = await client.query(sql('notify/runs-well'))
  return rows.map((row) => ({ ...goodRun(row), trigger: row.trigger }))
}

/** Marks as well what was told of missing and late nightly runs. @returns null where nothing was */
export async function markNightlyWell(client: Client): Promise<GoodRun | null> {
  const { rows } = await client.query(sql('notify/nightly-well'))
  return rows[0] === undefined ? null : goodRun(rows[0])
}

/** Whether something was told of a subject that is not well again. */
export async function isOpen(client: Client, subject: Subject): Promise<boolean> {
  const { rows } = await client.query(sql('notify/is-open'), [subject])
  return rows[0].open
}

/** Marks as well all that was told of a subject. @returns one of them; null where nothing was open */
export async function markWell(client: Client, subject: Subject): Promise<string | null> {
  const { rows } = await client.query(sql('notify/well'), [subject])
  return rows[0].first_id
}

/** Forgets what was noted 90 days ago, and gives up deliveries whose receiver is gone. */
export async function forgetOldNotifications(
  client: Client,
  receivers: readonly string[],
): Promise<void> {
  await client.query(sql('notify/forget'))
  await client.query(sql('notify/abandon'), [receivers])
}

function goodRun(row: { run_id: string; finished_at: Date; problems: number }): GoodRun {
  return { runId: row.run_id, finishedAt: row.finished_at, problems: row.problems }
}
