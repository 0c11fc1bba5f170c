import type * as z from 'zod'
import type { Database } from '../core/database/pool.ts'
import type {
  CatalogChanges,
  CatalogEntry,
  CatalogRequestSchema,
  NewLinesSchema,
  OldLinesSchema,
} from '../documents/catalog-line.ts'
import type {
  Failure,
  FailuresRequestSchema,
  RequestedRun,
  RetryRequestSchema,
  Run,
  RunDetails,
  RunRequestSchema,
  RunsRequestSchema,
} from '../documents/run.ts'
import type { Freshness, OrganizationFreshness } from '../documents/freshness.ts'
import type {
  AcceptedHeld,
  AcceptHeldSchema,
  RefusedHeld,
  RefuseHeldSchema,
  HeldListing,
  RejectedChoice,
  RejectedRecord,
  SetAsideDone,
} from '../documents/waiting.ts'
import type { Action } from '../documents/action.ts'
import type { Attention, AttentionRequestSchema } from '../documents/attention.ts'
import type { ChangesPage, ChangesRequestSchema } from '../documents/change.ts'
import type { Hinted, HintScopeSchema } from '../documents/hint.ts'
import type { OfRunRequestSchema, Page, PageRequest } from '../documents/page.ts'
import type { NewSchedule, NightlySchedule } from '../documents/schedule.ts'
import type { SearchRequestSchema, SearchResult, Thing, ThingRequest } from '../documents/thing.ts'
import type { Log } from '../base/log.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import type { Settings } from '../settings/table.ts'

/**
 * Starts and follows runs and decides about held removals, from a program. Every method throws an EnvironmentError if PostgreSQL is
 * unreachable, and a UsageError for an invalid cursor, limit or ID.
 */
export interface CollabSync {
  /**
   * Starts a run on the workers.
   * @param request.scope the whole catalog if omitted
   * @param request.add adds the scope to the catalog if it is missing
   * @param request.failing requests only its scopes whose last fetch failed
   * @param request.idempotencyKey a repeated key returns the run that it started
   * @throws UsageError for an invalid scope, a scope that is not in the catalog or in which nothing fails, or a key that was used for
   *   another request
   */
  startRun(request?: z.input<typeof RunRequestSchema>): Promise<RequestedRun>
  /**
   * Starts a run of the scopes that failed in another run and still fail.
   * @param request.idempotencyKey as in startRun, but separate for each run
   * @throws UsageError if no scope still fails, there is no such run, or it is not over
   */
  retryRun(runId: string, request?: z.input<typeof RetryRequestSchema>): Promise<RequestedRun>
  /**
   * Reports that comments of an annotation or document have changed. Several hints before the fetch starts cause one fetch.
   * @param options.add adds the scope to the catalog if it is missing
   * @throws UsageError for an invalid scope, or one that is not in the catalog
   */
  hint(
    scope: z.input<typeof HintScopeSchema>,
    options?: { add?: boolean | undefined },
  ): Promise<Hinted>
  /**
   * Cancels a run. It resolves when the request is stored, before the run has ended.
   * @throws UsageError if the run is over or does not exist
   */
  cancelRun(runId: string): Promise<void>
  /** Returns null if there is no such run. */
  getRun(runId: string): Promise<RunDetails | null>
  listRuns(request?: z.input<typeof RunsRequestSchema>): Promise<Page<Run>>
  /**
   * Yields the run now, then each time it has changed, its final state last. It waits up to 2 minutes for an unreachable PostgreSQL.
   * @throws UsageError if there is no such run; the reason of the signal
   */
  watchRun(runId: string, options?: { signal?: AbortSignal }): AsyncIterable<Run>
  /** Resolves with the finished run. @throws as watchRun */
  waitForRun(runId: string, options?: { signal?: AbortSignal }): Promise<RunDetails>
  /** Open problems, by kind and organization. */
  listAttention(request?: z.input<typeof AttentionRequestSchema>): Promise<Page<Attention>>
  /** Newest first. */
  listFailures(request?: z.input<typeof FailuresRequestSchema>): Promise<Page<Failure>>
  /** Open records, newest first: without those that were stored later or set aside. */
  listRejectedRecords(request?: z.input<typeof OfRunRequestSchema>): Promise<Page<RejectedRecord>>
  /**
   * Sets rejected records aside permanently: the same content in the same scope makes no later run partial.
   * @throws UsageError if one of them does not exist
   */
  setAsideRejectedRecords(
    choice: RejectedChoice,
    options: { reason: string },
  ): Promise<SetAsideDone>
  /** Actions of users and programs, newest first. */
  listActions(request?: z.input<typeof OfRunRequestSchema>): Promise<Page<Action>>
  /** Held listings, oldest first. */
  listHeld(request?: z.input<typeof OfRunRequestSchema>): Promise<Page<HeldListing>>
  /**
   * Applies the removals of a held listing.
   * @param options.runId `runId` of the listing when it was read: a later run may have received another response
   * @throws UsageError if it is no longer held, or another run was the last to receive its response
   */
  acceptHeld(heldId: number, options?: z.input<typeof AcceptHeldSchema>): Promise<AcceptedHeld>
  /**
   * Refuses the removals of a held listing: its users stay, and the same response is not held again.
   * @throws UsageError as {@link acceptHeld}; if there is no reason
   */
  refuseHeld(heldId: number, options: z.input<typeof RefuseHeldSchema>): Promise<RefusedHeld>
  /** Of the whole catalog. */
  getFreshness(): Promise<Freshness>
  /** Organizations in the order of their IDs. */
  listOrganizations(request?: PageRequest): Promise<Page<OrganizationFreshness>>
  /**
   * Lists the annotations of a document, the user groups and documents of an organization, or all organizations.
   * @throws UsageError for a document without its organization
   */
  listCatalog(request?: z.input<typeof CatalogRequestSchema>): Promise<Page<CatalogEntry>>
  /**
   * Adds lines to the catalog, all or none.
   * @param request.add also adds missing parents
   * @throws UsageError naming a missing parent without `add`
   */
  addToCatalog(request: z.input<typeof NewLinesSchema>): Promise<CatalogChanges>
  /**
   * Deactivates lines and everything in them: they are not fetched any more, and their rows stay.
   * @throws UsageError naming a line that the catalog never contained
   */
  removeFromCatalog(request: z.input<typeof OldLinesSchema>): Promise<CatalogChanges>
  /**
   * Changes after a cursor; those of a row are in order.
   * @throws UsageError for an invalid cursor; CursorGoneError if a new export is needed
   */
  listChanges(request?: z.input<typeof ChangesRequestSchema>): Promise<ChangesPage>
  /**
   * Everything that is stored about an organization, user group, document, annotation, comment or user, or null.
   * @throws UsageError for IDs that name no thing
   */
  getThing(request: ThingRequest): Promise<Thing | null>
  /** Finds runs and things by an ID, a part of one, a name or an address. */
  search(request: z.input<typeof SearchRequestSchema>): Promise<SearchResult>
  getSchedule(): Promise<NightlySchedule>
  /**
   * Sets the nightly schedule for all workers. It replaces SYNC_CRON and SYNC_TZ.
   * @throws UsageError for an invalid cron expression or time zone
   */
  setSchedule(schedule: NewSchedule): Promise<NightlySchedule>
  /** Removes the nightly schedule: no nightly run starts until one is set again. */
  removeSchedule(): Promise<NightlySchedule>
  /** Closes the connections that `openCollabSync` opened. */
  close(): Promise<void>
}

/** A `CollabSync` that several users share, such as those of `serve`. */
export interface SharedCollabSync extends CollabSync {
  /** The same client with another name in `sync.actions`. */
  as(by: string): SharedCollabSync
}

/** The parts of a `CollabSync`. Their owner closes them. */
export interface Parts {
  readonly database: Database
  /** Can be unreachable: workers enqueue later what is stored meanwhile. */
  readonly queue: JobQueue
  readonly settings: Settings
  readonly log: Log
  /** The name in `sync.actions`. */
  readonly by: string
  /** The trigger of runs in `sync.runs`. */
  readonly trigger: 'http' | 'api'
}
