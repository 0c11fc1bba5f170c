import { planOrganizations } from '../src/core/run/pages.ts'
import { itemJob } from './item-job.ts'

/** Pages a run's organizations: enqueues the first batches of each, and the next page. */
export const pageOrganizationsJob = itemJob('page-organizations', async (app, ids) =>
  app.deliver(await planOrganizations(app.sync, ids)),
)
