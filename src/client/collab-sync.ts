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
 * Asks collab-sync for runs, follows them and settles what waits for a person, from a program. Whatever is asked, it throws
 * an EnvironmentError where PostgreSQL is away, and a UsageError for a cursor, limit or id that is none.
 */
export interface CollabSync {
  /**
   * Asks for a run; workers take it up.
   * @param request.scope everything in the catalog when left out
   * @param request.add adds what the scope names and the catalog lacks, rather than refuse it
   * @param request.failing requests only those scopes of it that fail now
   * @param request.idempotencyKey the same key again gives the run that it made, whatever became of it
   * @throws UsageError for a wrong scope, one that names what the catalog lacks, one in which nothing fails, or a key used for
   *   another request
   */
  startRun(request?: z.input<typeof RunRequestSchema>): Promise<RequestedRun>
  /**
   * Asks for a run of just the scopes that failed in another and still fail.
   * @param request.idempotencyKey as in startRun; the keys of each run's retries are their own
   * @throws UsageError where none does, there is no such run, or it is not over
   */
  retryRun(runId: string, request?: z.input<typeof RetryRequestSchema>): Promise<RequestedRun>
  /**
   * Says that comments of an annotation, or of a document, changed: they are looked at next. However often it is said before
   * that look begins, it is one look.
   * @param options.add adds what the scope names and the catalog lacks, rather than refuse it
   * @throws UsageError for a wrong scope, or one that names what the catalog lacks
   */
  hint(
    scope: z.input<typeof HintScopeSchema>,
    options?: { add?: boolean | undefined },
  ): Promise<Hinted>
  /**
   * Ends a run early; resolves once that is noted, not when it is settled. Again is harmless until it is.
   * @throws UsageError where it is over or there is none
   */
  cancelRun(runId: string): Promise<void>
  /** Null where there is no such run. */
  getRun(runId: string): Promise<RunDetails | null>
  listRuns(request?: z.input<typeof RunsRequestSchema>): Promise<Page<Run>>
  /**
   * The run as it is, then each time something of it changed, its settled state last. A PostgreSQL that goes away for a
   * moment is waited for.
   * @param options.signal ends it early
   * @throws UsageError where there is no such run; the signal's reason
   */
  watchRun(runId: string, options?: { signal?: AbortSignal }): AsyncIterable<Run>
  /** Resolves with the settled run. @throws as watchRun */
  waitForRun(runId: string, options?: { signal?: AbortSignal }): Promise<RunDetails>
  /** What needs a person now, by kind and organization. */
  listAttention(request?: z.input<typeof AttentionRequestSchema>): Promise<Page<Attention>>
  /** The newest first. */
  listFailures(request?: z.input<typeof FailuresRequestSchema>): Promise<Page<Failure>>
  /** The newest first; what was stored after all, or set aside, is left out. */
  listRejectedRecords(request?: z.input<typeof OfRunRequestSchema>): Promise<Page<RejectedRecord>>
  /**
   * Sets rejected records aside for good, by their content: the same in the same scope makes no later run partial.
   * @throws UsageError where one of them is not there
   */
  setAsideRejectedRecords(
    choice: RejectedChoice,
    options: { reason: string },
  ): Promise<SetAsideDone>
  /** What users and programs did, the newest first. */
  listActions(request?: z.input<typeof OfRunRequestSchema>): Promise<Page<Action>>
  /** What waits for a person, the one first held first. */
  listHeld(request?: z.input<typeof OfRunRequestSchema>): Promise<Page<HeldListing>>
  /**
   * Applies the removals of one held listing.
   * @param options.runId the listing's `runId` as it was looked at: a later run may have seen another answer since
   * @throws UsageError where it does not wait any more, or that run is not the last one that saw its answer
   */
  acceptHeld(heldId: number, options?: z.input<typeof AcceptHeldSchema>): Promise<AcceptedHeld>
  /**
   * Refuses the removals of one held listing: its users stay, and the same answer is not asked about again.
   * @param options.runId as of {@link acceptHeld}
   * @throws UsageError as {@link acceptHeld}; where there is no reason
   */
  refuseHeld(heldId: number, options: z.input<typeof RefuseHeldSchema>): Promise<RefusedHeld>
  /** Of the whole catalog, as its batches tell. */
  getFreshness(): Promise<Freshness>
  /** Organizations in the order of their ids. */
  listOrganizations(request?: PageRequest): Promise<Page<OrganizationFreshness>>
  /**
   * What the catalog holds directly beneath a document, else beneath an organization, else its organizations.
   * @throws UsageError for a document without its organization
   */
  listCatalog(request?: z.input<typeof CatalogRequestSchema>): Promise<Page<CatalogEntry>>
  /**
   * Adds lines to the catalog, all or none; again is harmless.
   * @param request.add adds also the parents that the catalog lacks
   * @throws UsageError naming such a parent without `add`
   */
  addToCatalog(request: z.input<typeof NewLinesSchema>): Promise<CatalogChanges>
  /**
   * Makes lines, and what is beneath them, inactive: they are not asked for any more, and their rows stay.
   * @throws UsageError naming what the catalog never had
   */
  removeFromCatalog(request: z.input<typeof OldLinesSchema>): Promise<CatalogChanges>
  /**
   * What changed behind a cursor, in the order in which each row did.
   * @throws UsageError for what is no cursor; CursorGoneError where one has to start over from an export
   */
  listChanges(request?: z.input<typeof ChangesRequestSchema>): Promise<ChangesPage>
  /**
   * Everything that is stored of one thing: an organization, a user group, a document, an annotation, a comment or a user.
   * Null where there is none.
   * @throws UsageError for ids that name no thing
   */
  getThing(request: ThingRequest): Promise<Thing | null>
  /** Finds runs and things by an id, a part of one, a name or an address. */
  search(request: z.input<typeof SearchRequestSchema>): Promise<SearchResult>
  getSchedule(): Promise<NightlySchedule>
  /**
   * Sets the nightly schedule for all workers, in place of SYNC_CRON and SYNC_TZ.
   * @throws UsageError for a cron expression or a time zone that is none
   */
  setSchedule(schedule: NewSchedule): Promise<NightlySchedule>
  /** No nightly run until one is set again. */
  removeSchedule(): Promise<NightlySchedule>
  /** Gives back every connection that `openCollabSync` opened. */
  close(): Promise<void>
}

/** A `CollabSync` that several users share, such as those of `serve`. */
export interface SharedCollabSync extends CollabSync {
  /** The same client, whose actions are listed under another name. */
  as(by: string): SharedCollabSync
}

/** What a `CollabSync` works on; whoever opened the parts closes them. */
export interface Parts {
  readonly database: Database
  /** May be away: what is stored meanwhile, workers take up. */
  readonly queue: JobQueue
  readonly settings: Settings
  readonly log: Log
  /** The name that `sync.actions` lists its actions under. */
  readonly by: string
  /** What `sync.runs` says of who asked. */
  readonly trigger: 'http' | 'api'
}
