/**
 * The package `collab-sync`: a client that starts and follows runs, and `parseScope` for programs that enqueue `start-run` jobs
 * themselves and check the scope first.
 */

export { openCollabSync } from './client/open-collab-sync.ts'
export type { CollabSync } from './client/collab-sync.ts'
export type { Action } from './schemas/action.ts'
export type { Attention } from './schemas/attention.ts'
export type { CatalogChanges, CatalogEntry, CatalogLine } from './schemas/catalog-line.ts'
export type { Change, ChangesPage } from './schemas/change.ts'
export type { Failure, FailureReport } from './schemas/run.ts'
export type { Freshness, OrganizationFreshness } from './schemas/freshness.ts'
export type { RunChange, RunChangesPage } from './schemas/run-change.ts'
export type { Hinted, HintScope } from './schemas/hint.ts'
export type { AcceptedHeld, HeldListing, RefusedHeld } from './schemas/waiting.ts'
export type { Page, PageRequest } from './schemas/page.ts'
export type { RejectedChoice, RejectedRecord, SetAsideDone } from './schemas/waiting.ts'
export type {
  RequestedRun,
  Run,
  Run as RunReport,
  RunDetails,
  RunStatus,
  Trigger,
} from './schemas/run.ts'
export type { NewPace, NewPause, Pace } from './schemas/pace.ts'
export type { Process } from './schemas/process.ts'
export type { NewSchedule, NightlySchedule } from './schemas/schedule.ts'
export { parseScope } from './schemas/scope.ts'
export type { Scope, ScopeIds } from './schemas/scope.ts'
export type { SearchResult, Thing, ThingRequest } from './schemas/thing.ts'
export { CursorGoneError, EnvironmentError, NothingFailsError, UsageError } from './base/errors.ts'
export type { Operation } from './base/operations.ts'
export type { Environment } from './settings/environment.ts'
