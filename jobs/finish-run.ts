import { observeMembers } from '../src/sync/run/observe.ts'
import { settleRun } from '../src/sync/run/settle.ts'
import { runId } from './job.ts'
import type { Job } from './job.ts'

/** Settles a run of which nothing is pending, once it is known which members its records have. */
export const finishRunJob: Job = {
  name: 'finish-run',
  async perform(app, { data }) {
    const id = runId(data)
    await observeMembers(app.sync, id)
    await settleRun(app.sync, id)
  },
}
