import { expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { startRun } from '../../src/core/run/start.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { openLoaded, settled } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'

/** Rows of docs/FAILURES.md that are proved nowhere else. */

const live = await openLoaded('postgres')

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

test('while the disk of PostgreSQL is full, a run waits; it continues when there is space', async () => {
  const [, organizationId = ''] = live.world.organizationIds()
  const { pool } = live.database
  // What PostgreSQL reports for a table that it cannot extend.
  await pool.query(`
    create function full_disk() returns trigger language plpgsql as $$ begin
      raise 'could not extend file: No space left on device' using errcode = 'disk_full';
    end $$;
    create trigger full_disk before insert on collab_store.comments execute function full_disk()`)
  const app = await live.openApp()
  const scope = { organizationIds: [organizationId] }
  const { runId, items } = await startRun(app.sync, { trigger: 'cli', scope, requestKey: null })
  const worker = await startWorker(app, jobs, { keepsSchedule: false })
  try {
    await app.deliver(items)
    await until('a batch has been tried twice', async () => {
      const tried = `select 1 from sync.run_items where run_id = $1 and state = 'pending' and attempts > 1`
      return (await pool.query(tried, [runId])).rows.length > 0
    })
    const running = await pool.query('select status from sync.runs where run_id = $1', [runId])
    expect(running.rows).toEqual([{ status: 'running' }])
    await pool.query('drop function full_disk() cascade')
    expect(await settled(live.database, runId)).toMatchObject({
      status: 'succeeded',
      scopes_failed: 0,
    })
  } finally {
    await worker.stop()
  }
})
