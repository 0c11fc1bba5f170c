/**
 * The package `collab-sync`: a client that starts and follows runs, and `parseScope` for programs that enqueue `start-run` jobs
 * themselves and check the scope first.
 */

export { openCollabSync } from './client/open-collab-sync.ts'
export type { CollabSync } from './client/collab-sync.ts'
export type { Attention } from './documents/attention.ts'
export type { CatalogChanges, CatalogEntry, CatalogLine } from './documents/catalog-line.ts'
export type { Change, ChangesPage } from './documents/change.ts'
export type { Failure, FailureReport } from './documents/run.ts'
export type { Freshness, OrganizationFreshness } from './documents/freshness.ts'
export type { Hinted, HintScope } from './documents/hint.ts'
export type { AcceptedHeld, HeldListing, RefusedHeld } from './documents/waiting.ts'
export type { Page, PageRequest } from './documents/page.ts'
export type { RejectedChoice, RejectedRecord, SetAsideDone } from './documents/waiting.ts'
export type {
  RequestedRun,
  Run,
  Run as RunReport,
  RunDetails,
  RunStatus,
  Trigger,
} from './documents/run.ts'
export type { NewSchedule, NightlySchedule } from './documents/schedule.ts'
export { parseScope } from './documents/scope.ts'
export type { Scope, ScopeIds } from './documents/scope.ts'
export { CursorGoneError, EnvironmentError, NothingFailsError, UsageError } from './base/errors.ts'
export type { Operation } from './base/operations.ts'
export type { Environment } from './settings/environment.ts'
