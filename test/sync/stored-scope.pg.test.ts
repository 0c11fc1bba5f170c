import { expect, test } from 'vitest'
import { readRun } from '../../src/client/run-reports.ts'
import { startRun } from '../../src/core/run/start.ts'
import { openLoaded, settled } from '../helpers/live.ts'

const live = await openLoaded('postgres')

test('a run that another version narrowed in its own way fails at once, and can be listed', async () => {
  const app = await live.openApp()
  const { runId, items } = await startRun(app.sync, { trigger: 'cli', scope: {}, requestKey: null })
  const { pool } = live.database
  await pool.query(`update sync.runs set scope = '{"regions":["eu"]}' where run_id = $1`, [runId])
  await app.deliver(items)
  const worker = await live.openWorker()
  const row = await settled(live.database, runId)
  await worker.stop()
  expect(row).toMatchObject({
    status: 'failed',
    calls: 0,
    problem:
      'The request of this run cannot be read by this version of collab-sync: scope has no member "regions".',
  })
  expect(await readRun(pool, runId)).toMatchObject({ scope: { regions: ['eu'] } })
})
