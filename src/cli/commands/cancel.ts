import { cancelRun, waitForRun } from '../../client/runs.ts'
import { processUser } from '../../base/process-user.ts'
import { printRun } from '../run-details.ts'
import { findRun } from '../requested-scope.ts'
import { withTables } from '../with-store.ts'

/** Workers notice the cancellation at their next heartbeat. */
const PATIENCE_MS = 30_000

/** `collab-sync cancel RUN`: cancels a run and waits for its end. */
export async function cancel(text: string, { json }: { json?: boolean }): Promise<number> {
  return withTables({ name: 'cancel' }, async ({ database }, { log }) => {
    const runId = await findRun(database, text)
    await cancelRun({ database, log, by: processUser() }, runId)
    const signal = AbortSignal.timeout(PATIENCE_MS)
    await waitForRun({ database }, runId, { signal }).catch(() => {})
    await printRun(database, runId, { json })
  })
}
