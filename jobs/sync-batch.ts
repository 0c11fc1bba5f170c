import { syncBatch } from '../src/sync/batch.ts'
import { itemIds } from './job.ts'
import type { Job } from './job.ts'

/** Syncs one batch: its listings of users or its annotations' comments. Safe to deliver any number of times. */
export const syncBatchJob: Job = {
  name: 'sync-batch',
  async perform(app, { data }) {
    const ids = itemIds(data)
    await syncBatch(app.sync, ids)
    await app.finishIfDone(ids.runId)
  },
}
