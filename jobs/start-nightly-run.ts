import type { App } from '../src/worker/app.ts'
import type { Scope } from '../src/documents/scope.ts'
import { UsageError } from '../src/base/errors.ts'
import { startRun } from '../src/core/run/start.ts'
import type { Job } from '../src/worker/worker.ts'

/** The nightly schedule is due: refreshes the catalog from the user's own query, if there is one, and starts a run. */
export const startNightlyRunJob: Job = {
  name: 'start-nightly-run',
  async perform(app, { requestKey }) {
    await app.refreshCatalog()
    try {
      const scope = scopeOfNight(app)
      const { runId, items } = await startRun(app.sync, { trigger: 'schedule', scope, requestKey })
      await app.deliver(items)
      return { runId }
    } catch (error) {
      // Last night's run is still in progress, or the catalog is empty: the error of a job alone would not be seen.
      if (error instanceof UsageError)
        app.log.error({ reason: error.message }, 'no nightly run was started')
      throw error
    }
  },
}

/** Where continuous refresh polls comments all day, a nightly run fetches users only. */
function scopeOfNight({ refreshBudget, sync: { operations } }: App): Scope {
  return refreshBudget !== null && operations.includes('users') ? { operations: ['users'] } : {}
}
