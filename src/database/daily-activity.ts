import type { Database } from './pool.ts'
import { sql } from './sql.ts'

/** The runs that were asked for on one day. */
export interface RunDay {
  /** In UTC, as `2025-11-03`. */
  readonly day: string
  readonly runs: number
  readonly succeeded: number
  readonly partial: number
  readonly failed: number
  readonly cancelled: number
  readonly underWay: number
  /** The one to look at first: failed before partial before the rest, then the newest. */
  readonly worstRunId: string
}

/** What happened to comments on one day. */
export interface ActivityDay {
  /** In UTC, as `2025-11-03`. */
  readonly day: string
  /** Live comments last updated on it, by the service's clock. */
  readonly comments: number
  /** Noticed on it, by our clock. */
  readonly edits: number
  readonly deletions: number
}

/** The last 30 days in which there was any run, the oldest first. */
export async function readRunDays(database: Database): Promise<RunDay[]> {
  const { rows } = await database.query(sql('pages/runs-by-day'))
  return rows.map((row) => ({
    day: row.day,
    runs: row.runs,
    succeeded: row.succeeded,
    partial: row.partial,
    failed: row.failed,
    cancelled: row.cancelled,
    underWay: row.under_way,
    worstRunId: row.worst_run_id,
  }))
}

/** Those of the last 30 days on which anything happened, the oldest first. */
export async function readActivityDays(database: Database): Promise<ActivityDay[]> {
  const { rows } = await database.query<ActivityDay>(sql('pages/activity-by-day'))
  return rows
}

/**
 * How many scopes were last checked how long ago, from the batches alone.
 * @param boundsSeconds upper bounds of the groups, the lowest first
 * @returns one number a group, then those older than every bound, then those never checked
 */
export async function readCheckAges(
  database: Database,
  boundsSeconds: readonly number[],
): Promise<number[]> {
  const { rows } = await database.query(sql('pages/check-ages'), [boundsSeconds])
  const never = boundsSeconds.length + 1
  const scopes = Array.from({ length: never + 1 }, () => 0)
  for (const row of rows) scopes[row.age_group ?? never] = row.scopes
  return scopes
}

/** When a person last set or removed the nightly schedule; null where the settings hold. */
export async function readScheduleSetAt(database: Database): Promise<Date | null> {
  const { rows } = await database.query(sql('pages/schedule-set-at'))
  return rows[0]?.set_at ?? null
}
