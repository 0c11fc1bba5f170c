import type * as z from 'zod'
import { explainingLoss } from '../core/database/connection-errors.ts'
import { NewLinesSchema, OldLinesSchema } from '../schemas/catalog-line.ts'
import type { CatalogChanges, CatalogEntry, CatalogRequestSchema } from '../schemas/catalog-line.ts'
import { checked } from '../schemas/check.ts'
import { RetryRequestSchema, RunRequestSchema } from '../schemas/run.ts'
import type {
  Failure,
  FailuresRequestSchema,
  RequestedRun,
  Run,
  RunDetails,
  RunsRequestSchema,
} from '../schemas/run.ts'
import type { Freshness, OrganizationFreshness } from '../schemas/freshness.ts'
import { AcceptHeldSchema, RefuseHeldSchema } from '../schemas/waiting.ts'
import type {
  AcceptedHeld,
  HeldListing,
  RefusedHeld,
  RejectedChoice,
  RejectedRecord,
  SetAsideDone,
} from '../schemas/waiting.ts'
import type { Action } from '../schemas/action.ts'
import type { Attention, AttentionRequestSchema } from '../schemas/attention.ts'
import type { ChangesPage, ChangesRequestSchema } from '../schemas/change.ts'
import type { Hinted, HintScopeSchema } from '../schemas/hint.ts'
import type { OfRunRequestSchema, Page, PageRequest } from '../schemas/page.ts'
import type { NewPace, NewPause, Pace } from '../schemas/pace.ts'
import type { Process } from '../schemas/process.ts'
import type { RunChangesPage, RunChangesRequestSchema } from '../schemas/run-change.ts'
import type { NewSchedule, NightlySchedule } from '../schemas/schedule.ts'
import type { SearchRequestSchema, SearchResult, Thing, ThingRequest } from '../schemas/thing.ts'
import { readPace } from '../core/rate-limit/pace.ts'
import { addScope, addToCatalog, removeFromCatalog } from '../features/catalog/change.ts'
import { readNameRedaction } from '../features/privacy/rules.ts'
import { readFreshness } from './freshness.ts'
import { giveHint } from './hints.ts'
import * as listings from './listings.ts'
import type { Parts } from './parts.ts'
import { readRunDetails } from './run-reports.ts'
import { cancelRun, failedOf, startOnce, waitForRun, watchRun } from './runs.ts'
import { pauseCalls, resumeCalls, setPace } from './pace.ts'
import { readProcesses } from './processes.ts'
import { readSchedule, removeSchedule, setSchedule } from './schedule.ts'
import { search } from './search.ts'
import { getThing } from './things.ts'
import { decide, resolveRejected } from './waiting.ts'

/**
 * Starts and follows runs and decides about held removals, from a program. Every method throws an EnvironmentError if PostgreSQL is
 * unreachable, and a UsageError for an invalid cursor, limit or ID.
 */
export type CollabSync = Omit<SharedCollabSync, 'as'>

/** A `CollabSync` that several users share, such as those of `serve`. The tables must have this version (`requireSchema`). */
export class SharedCollabSync {
  readonly #parts: Parts

  /** @param close of what was opened for this client alone */
  constructor(parts: Parts, close = async () => {}) {
    this.#parts = parts
    this.close = close
  }

  /**
   * Starts a run on the workers.
   * @param request.scope the whole catalog if omitted
   * @param request.add adds the scope to the catalog if it is missing
   * @param request.failing requests only its scopes whose last fetch failed
   * @param request.idempotencyKey a repeated key returns the run that it started
   * @throws UsageError for an invalid scope, a scope that is not in the catalog or in which nothing fails, or a key that was used for
   *   another request
   */
  startRun = (request: z.input<typeof RunRequestSchema> = {}): Promise<RequestedRun> =>
    this.#on(async (parts) => {
      const { scope = {}, add, failing, idempotencyKey } = checked(RunRequestSchema, request)
      if (add) await addScope(parts.database, scope, parts.by)
      return startOnce(parts, { scope, failing }, parts.trigger, idempotencyKey)
    })
  /**
   * Starts a run of the scopes that failed in another run and still fail.
   * @param request.idempotencyKey as in startRun, but separate for each run
   * @throws UsageError if no scope still fails, there is no such run, or it is not over
   */
  retryRun = (
    runId: string,
    request: z.input<typeof RetryRequestSchema> = {},
  ): Promise<RequestedRun> =>
    this.#on(async (parts) => {
      const { idempotencyKey } = checked(RetryRequestSchema, request)
      const failed = await failedOf(parts.database, runId)
      return startOnce(parts, failed, `${parts.trigger}-retry:${runId}`, idempotencyKey)
    })
  /**
   * Reports that comments of an annotation or document have changed. Several hints before the fetch starts cause one fetch.
   * @param options.add adds the scope to the catalog if it is missing
   * @throws UsageError for an invalid scope, or one that is not in the catalog
   */
  hint = (
    scope: z.input<typeof HintScopeSchema>,
    options?: { add?: boolean | undefined },
  ): Promise<Hinted> => this.#on((parts) => giveHint(parts, { scope, ...options }))
  /**
   * Cancels a run. It resolves when the request is stored, before the run has ended.
   * @throws UsageError if the run is over or does not exist
   */
  cancelRun = (runId: string): Promise<void> => this.#on((parts) => cancelRun(parts, runId))
  /** Returns null if there is no such run. */
  getRun = (runId: string): Promise<RunDetails | null> =>
    this.#on((parts) => readRunDetails(parts.database, runId))
  listRuns = (request?: z.input<typeof RunsRequestSchema>): Promise<Page<Run>> =>
    this.#on((parts) => listings.listRuns(parts, request))
  /**
   * Yields the run now, then each time it has changed, its final state last. It waits up to 2 minutes for an unreachable PostgreSQL.
   * @throws UsageError if there is no such run; the reason of the signal
   */
  watchRun = (runId: string, options?: { signal?: AbortSignal }): AsyncIterable<Run> =>
    watchRun(this.#parts.database, runId, options?.signal)
  /** Resolves with the finished run. @throws as watchRun */
  waitForRun = (runId: string, options?: { signal?: AbortSignal }): Promise<RunDetails> =>
    this.#on((parts) => waitForRun(parts, runId, options))
  /** Open problems, by kind and organization. */
  listAttention = (request?: z.input<typeof AttentionRequestSchema>): Promise<Page<Attention>> =>
    this.#on((parts) => listings.listAttention(parts, request))
  /** Newest first. */
  listFailures = (request?: z.input<typeof FailuresRequestSchema>): Promise<Page<Failure>> =>
    this.#on((parts) => listings.listFailures(parts, request))
  /** What a run changed, newest first, with the counts of all; of a run in progress, so far. Returns null if there is no such run. */
  listRunChanges = (
    request: z.input<typeof RunChangesRequestSchema>,
  ): Promise<RunChangesPage | null> => this.#on((parts) => listings.listRunChanges(parts, request))
  /** Open records, newest first: without those that were stored later or set aside. */
  listRejectedRecords = (
    request?: z.input<typeof OfRunRequestSchema>,
  ): Promise<Page<RejectedRecord>> =>
    this.#on((parts) => listings.listRejectedRecords(parts, request))
  /**
   * Sets rejected records aside permanently: the same content in the same scope makes no later run partial.
   * @throws UsageError if one of them does not exist
   */
  setAsideRejectedRecords = (
    choice: RejectedChoice,
    options: { reason: string },
  ): Promise<SetAsideDone> =>
    this.#on(async ({ database, by }) => {
      return { changed: await resolveRejected(database, choice, { by, reason: options.reason }) }
    })
  /** Actions of users and programs, newest first. */
  listActions = (request?: z.input<typeof OfRunRequestSchema>): Promise<Page<Action>> =>
    this.#on((parts) => listings.listActions(parts, request))
  /** Held listings, oldest first. */
  listHeld = (request?: z.input<typeof OfRunRequestSchema>): Promise<Page<HeldListing>> =>
    this.#on((parts) => listings.listHeld(parts, request))
  /**
   * Applies the removals of a held listing.
   * @param options.runId `runId` of the listing when it was read: a later run may have received another response
   * @throws UsageError if it is no longer held, or another run was the last to receive its response
   */
  acceptHeld = (
    heldId: number,
    options: z.input<typeof AcceptHeldSchema> = {},
  ): Promise<AcceptedHeld> =>
    this.#on(async (parts) => {
      const choice = { heldId, ...checked(AcceptHeldSchema, options) }
      const { runId, people } = await decide(parts, choice, 'accepted')
      return { runId, accepted: 1, removed: people }
    })
  /**
   * Refuses the removals of a held listing: its users stay, and the same response is not held again.
   * @throws UsageError as {@link acceptHeld}; if there is no reason
   */
  refuseHeld = (heldId: number, options: z.input<typeof RefuseHeldSchema>): Promise<RefusedHeld> =>
    this.#on(async (parts) => {
      const choice = { heldId, ...checked(RefuseHeldSchema, options) }
      const { runId, people } = await decide(parts, choice, 'refused')
      return { runId, refused: 1, kept: people }
    })
  /** Of the whole catalog. */
  getFreshness = (): Promise<Freshness> => this.#on((parts) => readFreshness(parts.database))
  /** Organizations in the order of their IDs. */
  listOrganizations = (request?: PageRequest): Promise<Page<OrganizationFreshness>> =>
    this.#on((parts) => listings.listOrganizations(parts, request))
  /**
   * Lists the annotations of a document, the user groups and documents of an organization, or all organizations.
   * @throws UsageError for a document without its organization
   */
  listCatalog = (request?: z.input<typeof CatalogRequestSchema>): Promise<Page<CatalogEntry>> =>
    this.#on((parts) => listings.listCatalog(parts, request))
  /**
   * Adds lines to the catalog, all or none.
   * @param request.add also adds missing parents
   * @throws UsageError naming a missing parent without `add`
   */
  addToCatalog = (request: z.input<typeof NewLinesSchema>): Promise<CatalogChanges> =>
    this.#on(async ({ database, by: requestedBy }) => {
      const { lines, add } = checked(NewLinesSchema, request)
      const by = { source: 'catalog add', requestedBy }
      return addToCatalog(database, lines, { ...by, add, redaction: readNameRedaction })
    })
  /**
   * Deactivates lines and everything in them: they are not fetched any more, and their rows stay.
   * @throws UsageError naming a line that the catalog never contained
   */
  removeFromCatalog = (request: z.input<typeof OldLinesSchema>): Promise<CatalogChanges> =>
    this.#on(async ({ database, by: requestedBy }) => {
      const { lines } = checked(OldLinesSchema, request)
      return removeFromCatalog(database, lines, { source: 'catalog remove', requestedBy })
    })
  /**
   * Changes after a cursor; those of a row are in order.
   * @throws UsageError for an invalid cursor; CursorGoneError if a new export is needed
   */
  listChanges = (request?: z.input<typeof ChangesRequestSchema>): Promise<ChangesPage> =>
    this.#on((parts) => listings.listChanges(parts, request))
  /**
   * Everything that is stored about an organization, user group, document, annotation, comment or user, or null.
   * @throws UsageError for IDs that name no thing
   */
  getThing = (request: ThingRequest): Promise<Thing | null> =>
    this.#on((parts) => getThing(parts, request))
  /** Finds runs and things by an ID, a part of one, a name or an address. */
  search = (request: z.input<typeof SearchRequestSchema>): Promise<SearchResult> =>
    this.#on((parts) => search(parts, request))
  getSchedule = (): Promise<NightlySchedule> => this.#on((parts) => readSchedule(parts))
  /**
   * Sets the nightly schedule for all workers. It replaces SYNC_CRON and SYNC_TZ. Without `cron`, it keeps the current expression or
   * restores the one that was removed.
   * @throws UsageError for an invalid cron expression or time zone
   */
  setSchedule = (schedule: NewSchedule): Promise<NightlySchedule> =>
    this.#on((parts) => setSchedule(parts, schedule))
  /** Removes the nightly schedule: no nightly run starts until one is set again. */
  removeSchedule = (): Promise<NightlySchedule> => this.#on((parts) => removeSchedule(parts))
  /** Live processes of worker, run and serve, with the settings with which they started. */
  listWorkers = (): Promise<{ items: Process[] }> =>
    this.#on(async ({ database }) => ({ items: await readProcesses(database) }))
  getPace = (): Promise<Pace> => this.#on((parts) => readPace(parts.database))
  /**
   * Sets the pace of all processes in calls a second, or removes it with null. SYNC_RATE_LIMIT stays the upper limit.
   * @throws UsageError for a pace that is not positive or above the lowest SYNC_RATE_LIMIT of the live processes
   */
  setPace = (pace: NewPace): Promise<Pace> => this.#on((parts) => setPace(parts, pace))
  /**
   * Pauses all calls to the service, in all processes within ten seconds. During a pause, it changes its end.
   * @throws UsageError for an end that is in the past or more than 24 hours away
   */
  pause = (pause: NewPause): Promise<Pace> => this.#on((parts) => pauseCalls(parts, pause))
  /** Ends the pause. */
  resume = (): Promise<Pace> => this.#on((parts) => resumeCalls(parts))
  /** Closes the connections that `openCollabSync` opened. */
  close: () => Promise<void>

  /** The same client with another name in `sync.actions`. */
  as(by: string): SharedCollabSync {
    return new SharedCollabSync({ ...this.#parts, by })
  }

  /** Explains in a sentence if PostgreSQL is unreachable. */
  #on<T>(work: (parts: Parts) => Promise<T>): Promise<T> {
    return explainingLoss(this.#parts.database, () => work(this.#parts))
  }
}
