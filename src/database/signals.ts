import type { Database } from './pool.ts'
import type { Trigger } from './runs.ts'
import type { RunStatus } from './run-reports.ts'
import { sql } from './sql.ts'
import { DEAD_AFTER_S } from './workers.ts'

/** Sums over the runs of one trigger and status: columns of `sync.runs` by their own names. */
export interface RunTotals {
  readonly trigger: Trigger
  readonly status: RunStatus
  readonly runs: number
  readonly calls: number
  readonly retries: number
  readonly scopes_succeeded: number
  readonly scopes_failed: number
  readonly scopes_held: number
  readonly scopes_skipped: number
  readonly records_inserted: number
  readonly records_updated: number
  readonly records_unchanged: number
  readonly records_rejected: number
  readonly records_null: number
  readonly users_written: number
  readonly comments_written: number
  readonly comments_deleted: number
  readonly rejected: number
}

/** The last settled run of one trigger; times in seconds, since 1970 where they are no durations. */
export interface LastRun {
  readonly trigger: Trigger
  readonly status: RunStatus
  readonly calls: number
  readonly retries: number
  readonly scopes_succeeded: number
  readonly scopes_failed: number
  readonly scopes_held: number
  readonly scopes_skipped: number
  readonly rejected: number
  readonly requested_s: number
  readonly finished_s: number
  readonly duration_s: number
  /** The service refused key or token. */
  readonly is_refused: boolean
}

/** How things are; ages in seconds, null where there is nothing that could be old. */
export interface State {
  readonly scopes: number
  readonly never_checked: number
  readonly oldest_check_age_s: number | null
  readonly newest_check_age_s: number | null
  readonly workers: number
  readonly calls_in_flight: number
  readonly calls_limit: number
  /** Listings that wait for a person. */
  readonly held: number
  /** Rejected records that were not stored since. */
  readonly rejected: number
  /** Of the oldest run under way. */
  readonly open_run_age_s: number | null
}

export interface StoredSignals {
  readonly totals: readonly RunTotals[]
  readonly lastRuns: readonly LastRun[]
  readonly state: State
}

/**
 * What metrics tell of PostgreSQL: three statements over small tables.
 * @param refusal how the problem of a run begins whose credentials were refused
 */
export async function readSignals(database: Database, refusal: string): Promise<StoredSignals> {
  const totals = await database.query<RunTotals>(sql('signals/run-totals'))
  const lastRuns = await database.query<LastRun>(sql('signals/last-runs'), [refusal])
  const state = await database.query<State>(sql('signals/state'), [DEAD_AFTER_S])
  return { totals: totals.rows, lastRuns: lastRuns.rows, state: state.rows[0] as State }
}
