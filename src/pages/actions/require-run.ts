import type { CollabSync, RunDetails } from '../../collab-sync/collab-sync.ts'
import { UsageError } from '../../errors.ts'

/** @throws UsageError where there is no such run */
export async function requireRun(collabSync: CollabSync, runId: string): Promise<RunDetails> {
  const run = await collabSync.getRun(runId)
  if (run === null) throw new UsageError(`There is no run ${runId}; it may have been pruned.`)
  return run
}
