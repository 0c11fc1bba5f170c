import type { FailureReport, RunReport, RunStatus, ScopeIds } from '../database/run-reports.ts'
import type { Operation } from '../errors.ts'
import type { Scope } from '../scope.ts'

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

export interface RunDetails extends Run {
  /** 20 causes at most, the most frequent first. */
  readonly failuresByCause: readonly FailureReport[]
  /** Listings that this run held and that still wait. */
  readonly heldWaiting: number
}

/** One scope of a run that gave no usable answer. */
export interface Failure extends ScopeIds {
  readonly runId: string
  readonly at: Date
  readonly operation: Operation
  readonly httpStatus: number | null
  readonly errorStatus: string | null
  readonly errorMessage: string | null
  readonly attempts: number
}

/** A record, or a member of one, that could not be stored. */
export interface RejectedRecord extends ScopeIds {
  readonly rejectedRecordId: number
  readonly runId: string
  readonly at: Date
  readonly operation: Operation
  readonly reason: string
  /** JSON text as received, cut after 2,000 characters. */
  readonly record: string
  readonly isCut: boolean
}

/** A listing that lacked so many of its users that nobody was removed. */
export interface HeldListing {
  readonly heldId: number
  readonly runId: string
  readonly at: Date
  readonly kind: 'organization' | 'document' | 'group'
  readonly organizationId: string
  readonly documentId: string | null
  readonly organizationUserGroupId: string | null
  readonly usersBefore: number
  readonly usersMissing: number
  /** At most 100 of them. */
  readonly firstMissingUserIds: readonly string[]
  /** Later scheduled runs in which the same answer came again. */
  readonly repeats: number
}

/** How fresh one organization is. */
export interface OrganizationFreshness {
  readonly organizationId: string
  readonly active: boolean
  readonly scopes: number
  readonly annotations: number
  readonly comments: number
  readonly neverChecked: number
  readonly oldestCheck: Date | null
  readonly newestCheck: Date | null
  /** Scopes that failed when they were last asked for, as the newest run that asked tells. */
  readonly failing: number
  readonly held: number
}

export interface Freshness {
  readonly scopes: number
  readonly annotations: number
  readonly neverChecked: number
  readonly oldestCheck: Date | null
  readonly newestCheck: Date | null
}

export interface NightlySchedule {
  /** Null where a person removed it. */
  readonly cron: string | null
  readonly timeZone: string
  readonly setBy: 'settings' | 'schedule set' | 'schedule remove'
  readonly next: Date | null
}

/** Asks collab-sync for runs, follows them and settles what waits for a person, from a program. */
export interface CollabSync {
  /**
   * Asks for a run; workers take it up.
   * @param request.idempotencyKey the same key again gives the run that it made, whatever became of it
   * @throws UsageError for a wrong scope, one that names what the catalog lacks, or a key used for another scope
   */
  startRun(request?: {
    scope?: Scope
    idempotencyKey?: string
  }): Promise<{ runId: string; isNew: boolean }>
  /** Asks for a run of just the scopes that failed in another. @throws UsageError where none did */
  retryRun(
    runId: string,
    request?: { idempotencyKey?: string },
  ): Promise<{ runId: string; isNew: boolean }>
  /** Ends a run early; resolves once that is noted, not when it is settled. @throws UsageError where it is over */
  cancelRun(runId: string): Promise<void>
  /** Null where there is no such run. */
  getRun(runId: string): Promise<RunDetails | null>
  listRuns(request?: PageRequest & { status?: RunStatus }): Promise<Page<Run>>
  /** The run each time something of it changed, its settled state last. @throws UsageError where there is none */
  watchRun(runId: string, options?: { signal?: AbortSignal }): AsyncIterable<Run>
  /** Resolves with the settled run. @throws UsageError where there is none */
  waitForRun(runId: string, options?: { signal?: AbortSignal }): Promise<RunDetails>
  listFailures(
    request?: PageRequest & { runId?: string; organizationId?: string },
  ): Promise<Page<Failure>>
  listRejectedRecords(request?: PageRequest & { runId?: string }): Promise<Page<RejectedRecord>>
  /** Tries again to store what was rejected. */
  replayRejectedRecords(request?: {
    runId?: string
  }): Promise<{ replayed: number; stillRejected: number; obsolete: number }>
  /** What waits for a person. */
  listHeld(request?: PageRequest & { runId?: string }): Promise<Page<HeldListing>>
  /** Applies the removals of one held listing. @throws UsageError where it does not wait any more */
  acceptHeld(heldId: number): Promise<{ removed: number }>
  getFreshness(): Promise<Freshness>
  listOrganizations(
    request?: PageRequest & { search?: string },
  ): Promise<Page<OrganizationFreshness>>
  getSchedule(): Promise<NightlySchedule>
  /** @throws UsageError for a cron expression or a time zone that is none */
  setSchedule(schedule: { cron: string; timeZone?: string }): Promise<NightlySchedule>
  removeSchedule(): Promise<NightlySchedule>
  close(): Promise<void>
}
