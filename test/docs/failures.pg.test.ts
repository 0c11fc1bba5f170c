import { expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { startRun } from '../../src/core/run/start.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { openLive, settled } from '../helpers/live.ts'

/** Rows of docs/FAILURES.md that are proved nowhere else. */

const live = await openLive('postgres')
await live.importCatalog()

test('a batch that takes worker after worker down is given up: everything else is in, and it can be tried again', async () => {
  const rows = await live.rows(`select organization_id, document_id, count(*)::int as annotations
    from collab.annotations group by 1, 2 order by 3 desc limit 1`)
  const { organization_id, document_id, annotations } = rows[0]
  const scope = { organizationIds: [organization_id], documentId: document_id }
  const app = await live.openApp()
  const { runId, items } = await startRun(app.sync, { trigger: 'cli', scope, requestKey: null })
  // As if worker after worker had taken the document's comments up and died.
  await live.database.pool.query(
    `update sync.run_items set attempts = 1000 where run_id = $1 and batch_key in
      (select batch_key from collab_store.batches where operation = 'comments')`,
    [runId],
  )
  const worker = await startWorker(app, jobs, { keepsSchedule: false })
  await app.deliver(items)

  expect(await settled(live.database, runId)).toMatchObject({
    status: 'partial',
    documents_done: 1,
    scopes_failed: annotations,
  })
  const failures = await live.database.pool.query(
    'select distinct error_status from sync.failures where run_id = $1',
    [runId],
  )
  expect(failures.rows).toEqual([{ error_status: 'worker_died' }])
  await worker.stop()
  expect(await live.run({ failedOf: runId })).toMatchObject({
    status: 'succeeded',
    annotations_done: annotations,
  })
})
