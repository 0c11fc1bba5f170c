import { settleRun } from '../src/sync/run/settle.ts'
import { runId } from './job.ts'
import type { Job } from './job.ts'

/** Settles a run of which nothing is pending. */
export const finishRunJob: Job = {
  name: 'finish-run',
  async perform(app, { data }) {
    await settleRun(app.sync, runId(data))
  },
}
