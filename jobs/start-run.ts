import { addScope } from '../src/features/catalog/change.ts'
import { checked } from '../src/documents/check.ts'
import { StartRunJobSchema } from '../src/documents/run.ts'
import { startRun } from '../src/core/run/start.ts'
import type { Job } from '../src/worker/worker.ts'

/** A program starts a run through the queue (contract.md, "The queue"). Delivered twice, it makes one run. */
export const startRunJob: Job = {
  name: 'start-run',
  async perform(app, { data, requestKey }) {
    const asked = checked(StartRunJobSchema, data ?? {}, 'data')
    const { scope = {}, add, requestedBy: by } = asked
    if (add) await addScope(app.store.database, scope, by)
    const { runId, items } = await startRun(app.sync, { trigger: 'api', scope, requestKey, by })
    await app.deliver(items)
    return { runId }
  },
}
