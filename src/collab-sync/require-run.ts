import type { Database } from '../database/pool.ts'
import { durationOf, readRun } from '../database/run-reports.ts'
import { UsageError } from '../errors.ts'
import type { Run } from './collab-sync.ts'
import { isRunId, shown } from './request.ts'

/** One run as it is now. @throws UsageError where there is none */
export async function requireRun(database: Database, runId: string): Promise<Run> {
  const run = isRunId(runId) ? await readRun(database, runId) : null
  return run === null ? thereIsNone(runId) : { ...run, durationMs: durationOf(run) }
}

/** @throws UsageError always */
export function thereIsNone(runId: unknown): never {
  throw new UsageError(`There is no run ${shown(runId)}.`)
}
