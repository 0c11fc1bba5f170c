import { planOrganizations } from '../src/sync/run/pages.ts'
import { itemIds } from './job.ts'
import type { Job } from './job.ts'

/** Pages a run's organizations: the first batches of each are handed to the queue, and the next page. */
export const pageOrganizationsJob: Job = {
  name: 'page-organizations',
  async perform(app, { data }) {
    const ids = itemIds(data)
    await app.deliver(await planOrganizations(app.sync, ids))
    await app.finishIfDone(ids.runId)
  },
}
