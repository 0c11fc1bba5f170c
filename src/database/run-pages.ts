import type { Database } from './pool.ts'
import { readRunsOf } from './run-reports.ts'
import type { RunReport, RunStatus } from './run-reports.ts'
import * as runs from './statements/runs.ts'

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
