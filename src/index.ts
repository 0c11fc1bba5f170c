/**
 * What `import { ... } from 'collab-sync'` offers: asking for runs and following them from a program; and the scope of a
 * run, for programs that put a `start-run` job into the queue themselves and want a wrong one refused before it is there.
 */

export { openCollabSync } from './client/open-collab-sync.ts'
export type {
  CollabSync,
  Failure,
  Freshness,
  HeldListing,
  NightlySchedule,
  OrganizationFreshness,
  Page,
  PageRequest,
  RejectedChoice,
  RejectedRecord,
  RequestedRun,
  Run,
  RunDetails,
} from './client/collab-sync.ts'
export type { FailureReport, RunReport, RunStatus, ScopeIds } from './database/run-reports.ts'
export type { Trigger } from './database/runs.ts'
export { EnvironmentError, UsageError } from './errors.ts'
export type { Operation } from './errors.ts'
export { parseScope } from './documents/scope.ts'
export type { Scope } from './documents/scope.ts'
export type { Environment } from './settings/settings.ts'
