import type { Database } from './pool.ts'
import { readRunsOf } from './run-reports.ts'
import type { RunReport, RunStatus } from './run-reports.ts'
import { sql } from './sql.ts'

/** Where a run stands in the order of runs: when it was asked for, in microseconds since 1970, and its id. */
export type RunKey = readonly [requestedAtUs: number, runId: string]

/**
 * A page of runs, the newest first.
 * @param page.after key of the last run of the page before; null for the first page
 */
export async function pageRuns(
  database: Database,
  page: { status: RunStatus | null; after: RunKey | null; max: number },
): Promise<{ key: RunKey; item: RunReport }[]> {
  const { status, after, max } = page
  const [afterUs, afterId] = after ?? [null, null]
  const { rows } = await database.query(sql('runs/page'), [status, afterUs, afterId, max])
  const keys = new Map<string, RunKey>(
    rows.map((row) => [row.run_id, [row.requested_at_us, row.run_id]]),
  )
  const runs = await readRunsOf(database, [...keys.keys()])
  return runs.map((item) => ({ key: keys.get(item.runId) as RunKey, item }))
}
