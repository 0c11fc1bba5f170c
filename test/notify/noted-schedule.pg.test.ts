import { expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { nextDue } from '../../src/base/cron.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { onApp } from '../client/on-app.ts'
import { openLive } from '../helpers/live.ts'

/** What workers and commands write so that SQL knows of missing runs, absent workers and unequal settings. */

const NOTED =
  'schedule, schedule_since, next_due_at, late_after::text, schedule_time_zone, worker_left_at'
const noted = async () =>
  (await live.rows(`select ${NOTED}, xmin from collab_store.definitions`))[0]

// No night begins while this test runs.
const live = await openLive('postgres', { settings: { SYNC_CRON: '0 0 29 2 *' } })
const app = await live.openApp()

test('a worker that keeps the schedule notes it, its settings, and when it left; run notes none of them', async () => {
  const once = await startWorker(app, jobs, { keepsSchedule: false })
  await once.stop()
  expect(await noted()).toMatchObject({ schedule: null, worker_left_at: null })

  const worker = await startWorker(app, jobs, { keepsSchedule: true })
  const schedule = { cron: '0 0 29 2 *', timeZone: 'UTC' }
  expect(await noted()).toMatchObject({
    schedule: '0 0 29 2 * UTC',
    schedule_since: expect.any(Date),
    next_due_at: nextDue(schedule),
    late_after: '00:30:00',
    worker_left_at: null,
  })
  const rows = await live.rows('select settings from sync.workers')
  expect(rows).toMatchObject([{ settings: { SYNC_RATE_LIMIT: null, SYNC_CRON: '0 0 29 2 *' } }])
  await worker.stop()
  expect(await noted()).toMatchObject({ worker_left_at: expect.any(Date) })
})

test('a schedule that is set or removed is noted at once, and an equal one is not written again', async () => {
  const collabSync = onApp(app)
  const to = { cron: '30 1 * * *', timeZone: 'Asia/Tokyo' }
  const before = await noted()
  await collabSync.setSchedule(to)
  const after = await noted()
  expect(after).toMatchObject({
    schedule: '30 1 * * * Asia/Tokyo',
    schedule_time_zone: 'Asia/Tokyo',
    next_due_at: nextDue(to),
  })
  expect(after.schedule_since > before.schedule_since).toBe(true)
  await collabSync.setSchedule(to)
  expect(await noted()).toEqual(after)
  await collabSync.removeSchedule()
  expect(await noted()).toMatchObject({ schedule: null, next_due_at: null })
})
