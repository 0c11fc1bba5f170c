import { planDocuments } from '../src/core/run/pages.ts'
import { itemJob } from './item-job.ts'

/** Pages the documents of one large organization, batch by batch, so that small organizations do not wait for it. */
export const pageDocumentsJob = itemJob('page-documents', async (app, ids) =>
  app.deliver(await planDocuments(app.sync, ids)),
)
