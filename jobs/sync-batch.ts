import { syncBatch } from '../src/core/sync/batch.ts'
import { itemJob } from './item-job.ts'

/** Syncs one batch: its user listings or the comments of its annotations. Safe to deliver any number of times. */
export const syncBatchJob = itemJob('sync-batch', (app, ids) => syncBatch(app.sync, ids))
