import type { Scope } from '../scope.ts'
import type { FailureCause, Trigger } from './runs.ts'
import type { Database } from './pool.ts'
import { sql } from './sql.ts'

export const RUN_STATUSES = [
  'queued',
  'running',
  'succeeded',
  'partial',
  'failed',
  'cancelled',
] as const

export type RunStatus = (typeof RUN_STATUSES)[number]

/** A run as `sync.runs` has it, in camel case; the counts of one under way are those so far. */
export interface RunReport {
  readonly runId: string
  readonly trigger: Trigger
  readonly status: RunStatus
  readonly scope: Scope
  readonly requestedAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly stopping: 'failed' | 'cancelled' | null
  readonly problem: string | null
  /** When PostgreSQL read this. */
  readonly readAt: Date
  /** The denominator of its progress, as of its begin. */
  readonly scopesExpected: number
  readonly scopesPlanned: number
  readonly scopesSucceeded: number
  readonly scopesFailed: number
  readonly scopesHeld: number
  readonly scopesSkipped: number
  readonly calls: number
  readonly retries: number
  readonly recordsReceived: number
  readonly recordsInserted: number
  readonly recordsUpdated: number
  readonly recordsUnchanged: number
  readonly recordsRejected: number
  readonly recordsNull: number
  readonly organizationsDone: number
  readonly documentsDone: number
  readonly groupsDone: number
  readonly annotationsDone: number
  readonly usersWritten: number
  readonly commentsWritten: number
  readonly commentsDeleted: number
  readonly rejected: number
  /** Waiting for the service's answers, summed over calls that ran side by side. */
  readonly serviceMs: number
  /** Waiting for the shared pace, with a place among the calls in flight: what SYNC_RATE_LIMIT and pauses cost. */
  readonly waitedMs: number
  /** Batches waiting for PostgreSQL, summed over batches side by side. */
  readonly databaseMs: number
  /** CPU of the processes that worked the run, while they did. */
  readonly cpuMs: number
}

/** The ids that name a scope; null or absent where it has none. */
export interface ScopeIds {
  readonly organizationId?: string | null
  readonly documentId?: string | null
  readonly annotationId?: string | null
  readonly organizationUserGroupId?: string | null
}

/** Why scopes of a run failed, with the first three that did. */
export interface FailureReport extends FailureCause {
  /** Most calls made for one of them. */
  readonly attempts: number
  readonly examples: readonly ScopeIds[]
}

export interface RejectedReport extends ScopeIds {
  readonly rejectedRecordId: number
  readonly operation: string
  readonly reason: string
  /** As received, cut where it is long. */
  readonly record: string
  readonly cut: boolean
  /** True where nothing of it is stored. */
  readonly isWhole: boolean
  /** When a person set it aside; null while it is open. */
  readonly setAsideAt: Date | null
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
export async function readRunsOf(
  database: Database,
  runIds: readonly string[],
): Promise<RunReport[]> {
  return readRuns(database, runIds, runIds.length)
}

/**
 * The ids of up to two runs between two ids, both included.
 * @param lowest uuid
 */
export async function findRunsBetween(
  database: Database,
  lowest: string,
  highest: string,
): Promise<string[]> {
  const { rows } = await database.query(sql('runs/find-by-id-range'), [lowest, highest])
  return rows.map((row) => row.run_id)
}

/** Failures of a run by cause, the most frequent first; 20 causes at most. */
export async function readFailures(database: Database, runId: string): Promise<FailureReport[]> {
  const { rows } = await database.query(sql('failures/by-cause'), [runId])
  return rows.map((row) => inCamelCase<FailureReport>(row))
}

/** The first rejected records of a run, each cut to a number of characters. */
export async function readRejected(
  database: Database,
  runId: string,
  most: { records: number; characters: number },
): Promise<RejectedReport[]> {
  const { rows } = await database.query(sql('rejected/first-of-run'), [
    runId,
    most.records,
    most.characters,
  ])
  return rows.map((row) => inCamelCase<RejectedReport>(row))
}

async function readRuns(
  database: Database,
  runIds: readonly string[] | null,
  max: number,
): Promise<RunReport[]> {
  const { rows } = await database.query(sql('runs/reports'), [runIds, max])
  return rows.map((row) => inCamelCase<RunReport>(row))
}

/** A row with the names of its columns in camel case. */
export function inCamelCase<T>(row: Record<string, unknown>): T {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  ) as T
}
