import * as z from 'zod'
import type { Database } from '../database/pool.ts'
import type { FailureReport, RunReport, RunStatus } from '../database/run-reports.ts'
import type { RowOf } from '../database/statement.ts'
import type { page as pageOfFailures } from '../database/statements/failures.ts'
import type { list as listOfHeld } from '../database/statements/held.ts'
import type { page as pageOfOrganizations } from '../database/statements/organizations.ts'
import type { list as listOfRejected } from '../database/statements/rejected.ts'
import type { freshness } from '../database/statements/scopes.ts'
import { isStorable } from '../database/storable.ts'
import type { RejectedChoice } from '../database/waiting.ts'
import { UsageError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { JobQueue } from '../queue/queue.ts'
import type { Scope } from '../documents/scope.ts'
import type { Settings } from '../settings/table.ts'

export type { RejectedChoice }

/** One scope of a run that gave no usable answer, after so many `attempts`. */
export type Failure = RowOf<typeof pageOfFailures>

/**
 * A record, or a member of one, that could not be stored: its JSON text as received, cut after 2,000 characters. Where it
 * `isWhole`, nothing of it is stored. What a person set aside has the time at which, who did it, and why.
 */
export type RejectedRecord = RowOf<typeof listOfRejected>

/**
 * A listing that lacked so many of its users that nobody was removed. `runId` is the run that last saw the answer, `at` when
 * it was first seen, `repeats` the later scheduled runs in which it came again; 100 of the missing users are named at most.
 */
export type HeldListing = RowOf<typeof listOfHeld>

/** What there is to sync, and when it was last gone through; no time where nothing was ever checked. */
export type Freshness = RowOf<typeof freshness>

/**
 * How fresh one organization is. It is not `active` where the catalog no longer lists it; `comments` are live ones, `failing`
 * the scopes that failed when they were last asked for, `held` the listings that wait for a person. Its checks are those of
 * its batches: a scope that failed or is held may be older.
 */
export type OrganizationFreshness = RowOf<typeof pageOfOrganizations>

/** A page of a listing, newest or first in order first; `nextCursor` is null on the last page. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Opaque; hand it back as `cursor` for the next page. */
  readonly nextCursor: string | null
}

export interface PageRequest {
  /** At most so many items; 50 when left out, 500 at most. */
  readonly limit?: number
  readonly cursor?: string
}

/** A run with what a person needs to decide what to do about it. */
export interface Run extends RunReport {
  readonly durationMs: number
}

/** What became of asking for a run. */
export interface RequestedRun {
  readonly runId: string
  /** False where the same idempotency key made the run before. */
  readonly isNew: boolean
  /** False where the queue could not be reached: the run is stored, and a worker takes it up within a minute. */
  readonly isDelivered: boolean
}

export interface RunDetails extends Run {
  /** 20 causes at most, the most frequent first. */
  readonly failuresByCause: readonly FailureReport[]
  /** Listings that this run held and that still wait. */
  readonly heldWaiting: number
}

/** The nightly schedule that holds, and who says so. */
export interface NightlySchedule {
  /** Null where a person removed it. */
  readonly cron: string | null
  readonly timeZone: string
  readonly setBy: 'settings' | 'schedule set' | 'schedule remove'
  /** Null where there is none. */
  readonly next: Date | null
}

/**
 * Asks collab-sync for runs, follows them and settles what waits for a person, from a program. Whatever is asked, it throws
 * an EnvironmentError where PostgreSQL is away, and a UsageError for a cursor, limit or id that is none.
 */
export interface CollabSync {
  /**
   * Asks for a run; workers take it up.
   * @param request.scope everything in the catalog when left out
   * @param request.idempotencyKey the same key again gives the run that it made, whatever became of it
   * @throws UsageError for a wrong scope, one that names what the catalog lacks, or a key used for another scope
   */
  startRun(request?: { scope?: Scope; idempotencyKey?: string }): Promise<RequestedRun>
  /**
   * Asks for a run of just the scopes that failed in another.
   * @param request.idempotencyKey as in startRun; the keys of each run's retries are their own
   * @throws UsageError where none did, there is no such run, or it is not over
   */
  retryRun(runId: string, request?: { idempotencyKey?: string }): Promise<RequestedRun>
  /**
   * Ends a run early; resolves once that is noted, not when it is settled. Again is harmless until it is.
   * @throws UsageError where it is over or there is none
   */
  cancelRun(runId: string): Promise<void>
  /** Null where there is no such run. */
  getRun(runId: string): Promise<RunDetails | null>
  listRuns(request?: PageRequest & { status?: RunStatus }): Promise<Page<Run>>
  /**
   * The run as it is, then each time something of it changed, its settled state last. A PostgreSQL that goes away for a
   * moment is waited for.
   * @param options.signal ends it early
   * @throws UsageError where there is no such run; the signal's reason
   */
  watchRun(runId: string, options?: { signal?: AbortSignal }): AsyncIterable<Run>
  /** Resolves with the settled run. @throws as watchRun */
  waitForRun(runId: string, options?: { signal?: AbortSignal }): Promise<RunDetails>
  /** The newest first. */
  listFailures(
    request?: PageRequest & { runId?: string; organizationId?: string },
  ): Promise<Page<Failure>>
  /** The newest first; what was stored after all, or set aside, is left out. */
  listRejectedRecords(request?: PageRequest & { runId?: string }): Promise<Page<RejectedRecord>>
  /**
   * Sets rejected records aside for good, by their content: the same in the same scope makes no later run partial.
   * @param as.by who does it
   * @returns how many contents were not set aside before
   * @throws UsageError where one of them is not there
   */
  setAsideRejectedRecords(
    choice: RejectedChoice,
    as: { by: string; reason: string },
  ): Promise<{ setAside: number }>
  /**
   * Tries again to store what was rejected, without a call to the service.
   * @returns how many were stored (`replayed`), are as unsound as they were (`stillRejected`), or are sound but no longer
   *   what is to be stored, since something newer is known or the catalog lacks their scope (`obsolete`)
   */
  replayRejectedRecords(request?: {
    runId?: string
  }): Promise<{ replayed: number; stillRejected: number; obsolete: number }>
  /** What waits for a person, the one first held first. */
  listHeld(request?: PageRequest & { runId?: string }): Promise<Page<HeldListing>>
  /**
   * Applies the removals of one held listing.
   * @param options.runId the listing's `runId` as it was looked at: a later run may have seen another answer since
   * @throws UsageError where it does not wait any more, or that run is not the last one that saw its answer
   */
  acceptHeld(heldId: number, options?: { runId?: string }): Promise<{ removed: number }>
  /** Of the whole catalog, as its batches tell. */
  getFreshness(): Promise<Freshness>
  /**
   * Organizations in the order of their ids.
   * @param request.search part of the id, in any case
   */
  listOrganizations(
    request?: PageRequest & { search?: string },
  ): Promise<Page<OrganizationFreshness>>
  getSchedule(): Promise<NightlySchedule>
  /**
   * Sets the nightly schedule for all workers, in place of SYNC_CRON and SYNC_TZ.
   * @throws UsageError for a cron expression or a time zone that is none
   */
  setSchedule(schedule: { cron: string; timeZone?: string }): Promise<NightlySchedule>
  /** No nightly run until one is set again. */
  removeSchedule(): Promise<NightlySchedule>
  /** Gives back every connection that `openCollabSync` opened. */
  close(): Promise<void>
}

/** What a `CollabSync` works on; whoever opened the parts closes them. */
export interface Parts {
  readonly database: Database
  /** May be away: what is stored meanwhile, workers take up. */
  readonly queue: JobQueue
  readonly settings: Settings
  readonly log: Log
  /** What `sync.runs` says of who asked. */
  readonly trigger: 'http' | 'api'
}

/** Checks of what a program asks with; each names the member at fault, and none trusts the caller's types. */

const RunId = z.uuid()

/** Whether a text can be a run's id at all. */
export function isRunId(text: unknown): text is string {
  return RunId.safeParse(text).success
}

/** @returns null where it was left out. @throws UsageError where it is no id of a run */
export function runIdOf(runId: unknown): string | null {
  if (runId === undefined) return null
  if (isRunId(runId)) return runId
  throw new UsageError(`runId must be a run's id, not ${shown(runId)}.`)
}

/**
 * @param member how the caller calls it
 * @returns null where it was left out
 * @throws UsageError where it is no text that PostgreSQL can compare with
 */
export function textOf(member: string, value: unknown): string | null {
  if (value === undefined) return null
  if (typeof value !== 'string' || !isStorable(value)) {
    throw new UsageError(`${member} must be a text without NUL and halves of characters.`)
  }
  return value
}

/** @throws UsageError where a text anywhere in the value is one that PostgreSQL cannot hold */
export function requireStorable(member: string, value: unknown): void {
  JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'string' || isStorable(part)) return part
    throw new UsageError(`${member} holds a NUL or half a character, which no id can hold.`)
  })
}

/** A value as a message may show it: short, and on one line. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 80)}...` : text
}
