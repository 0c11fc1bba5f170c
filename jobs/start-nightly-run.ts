import type { App } from '../src/app.ts'
import type { Scope } from '../src/documents/scope.ts'
import { UsageError } from '../src/errors.ts'
import { startRun } from '../src/sync/run/start.ts'
import type { Job } from './job.ts'

/** The nightly schedule is due: refreshes the catalog from the user's own query, if there is one, and starts a run. */
export const startNightlyRunJob: Job = {
  name: 'start-nightly-run',
  async perform(app, { requestKey }) {
    await app.refreshCatalog()
    try {
      const scope = scopeOfNight(app)
      const request = { trigger: 'schedule', scope, requestKey } as const
      const { runId, items } = await startRun(app.sync, request)
      await app.deliver(items)
      return { runId }
    } catch (error) {
      // Last night's run is still under way, or the catalog is empty: nobody reads a job's error at night.
      if (error instanceof UsageError)
        app.log.error({ reason: error.message }, 'no nightly run was started')
      throw error
    }
  },
}

/** Where comments are refreshed all day a night asks for users alone. */
function scopeOfNight({ refreshBudget, sync: { operations } }: App): Scope {
  return refreshBudget !== null && operations.includes('users') ? { operations: ['users'] } : {}
}
