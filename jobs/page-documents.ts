import { planDocuments } from '../src/sync/run/pages.ts'
import { itemIds } from './job.ts'
import type { Job } from './job.ts'

/** Pages the documents of one large organization, batch by batch, so that it does not hold up small ones. */
export const pageDocumentsJob: Job = {
  name: 'page-documents',
  async perform(app, { data }) {
    const ids = itemIds(data)
    await app.deliver(await planDocuments(app.sync, ids))
    await app.finishIfDone(ids.runId)
  },
}
