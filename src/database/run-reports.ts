import * as z from 'zod'
import { storedScope } from '../documents/scope.ts'
import type { Scope } from '../documents/scope.ts'
import type { Database } from './pool.ts'
import type { RowOf } from './statement.ts'
import * as failures from './statements/failures.ts'
import * as runs from './statements/runs.ts'

export const RUN_STATUSES = [
  'queued',
  'running',
  'succeeded',
  'partial',
  'failed',
  'cancelled',
] as const

export type RunStatus = (typeof RUN_STATUSES)[number]

/**
 * A run; the counts of one under way are those so far. `scopesExpected` is the denominator of its progress, as of its begin.
 * `serviceMs`, `waitedMs` (for a place by the rate limit) and `databaseMs` are sums over calls and batches that ran side by
 * side, `cpuMs` is the CPU of the processes that worked it, while they did. `readAt` is when PostgreSQL read this.
 */
export type RunReport = Omit<RowOf<typeof runs.reports>, 'scope'> & { readonly scope: Scope }

const id = z.string().nullable().optional()
const ScopeIdsSchema = z.object({
  organizationId: id,
  documentId: id,
  annotationId: id,
  organizationUserGroupId: id,
})

/** The ids that name a scope; null or absent where it has none. */
export type ScopeIds = z.infer<typeof ScopeIdsSchema>

/** Why scopes of a run failed, with the first three that did; `attempts` are the most calls made for one of them. */
export type FailureReport = Omit<RowOf<typeof failures.byCause>, 'examples'> & {
  readonly examples: readonly ScopeIds[]
}

/** From its begin to its end, or until it was read, in milliseconds; 0 for one that has not begun. */
export function durationOf(run: RunReport): number {
  const from = run.startedAt ?? run.finishedAt ?? run.readAt
  return (run.finishedAt ?? run.readAt).getTime() - from.getTime()
}

/** Scopes of a run that are settled, one way or the other. */
export function scopesDone(run: RunReport): number {
  return run.scopesSucceeded + run.scopesFailed + run.scopesHeld + run.scopesSkipped
}

/** Scopes of a run in all, as far as that is known. */
export function scopesInAll(run: RunReport): number {
  return Math.max(run.scopesExpected, run.scopesPlanned)
}

/** The newest runs first. */
export async function readRecentRuns(database: Database, max: number): Promise<RunReport[]> {
  return readRuns(database, null, max)
}

/** One run; null where there is none with that id. */
export async function readRun(database: Database, runId: string): Promise<RunReport | null> {
  const [run] = await readRuns(database, [runId], 1)
  return run ?? null
}

/** Runs by their ids, the newest first; those that are gone are left out. */
async function readRunsOf(database: Database, runIds: readonly string[]): Promise<RunReport[]> {
  return readRuns(database, runIds, runIds.length)
}

/** Failures of a run by cause, the most frequent first; 20 causes at most. */
export async function readFailures(database: Database, runId: string): Promise<FailureReport[]> {
  const causes = await failures.byCause.all(database, { runId })
  return causes.map((cause) => ({
    ...cause,
    examples: z.array(ScopeIdsSchema).parse(cause.examples),
  }))
}

async function readRuns(
  database: Database,
  runIds: readonly string[] | null,
  limit: number,
): Promise<RunReport[]> {
  const rows = await runs.reports.all(database, { runIds, limit })
  return rows.map((row) => ({ ...row, scope: storedScope(row.scope) }))
}

/** Where a run stands in the order of runs: when it was asked for, in microseconds since 1970, and its id. */
export type RunKey = readonly [requestedAtUs: number, runId: string]

/**
 * A page of runs, the newest first.
 * @param page.after key of the last run of the page before; null for the first page
 */
export async function pageRuns(
  database: Database,
  { status, after, limit }: { status: RunStatus | null; after: RunKey | null; limit: number },
): Promise<{ key: RunKey; item: RunReport }[]> {
  const [beforeUs, beforeRunId] = after ?? [null, null]
  const keys = await runs.page.all(database, { status, beforeUs, beforeRunId, limit })
  const reports = await readRunsOf(
    database,
    keys.map(({ runId }) => runId),
  )
  const byId = new Map(reports.map((report) => [report.runId, report]))
  return keys.flatMap(({ runId, requestedAtUs }) => {
    const item = byId.get(runId)
    return item === undefined ? [] : [{ key: [requestedAtUs, runId], item }]
  })
}
