import { describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { makeUpForPausedNight, NIGHTLY } from '../../src/core/queue/schedule.ts'
import { findWait } from '../../src/core/sync/worker-waits.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { QUEUE_KINDS, isMissing, openLoaded, settled, startOn } from '../helpers/live.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'
import { onApp, onDatabase } from './on-app.ts'

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
const inAnHour = () => inMs(3_600_000)

describe.each(QUEUE_KINDS)('a pause of all calls, with the queue on %s', (kind) => {
  test('holds the calls of a run, is what its workers wait for, and fails no scope', async (context) => {
    if (isMissing(kind)) return context.skip()
    const live = await openLoaded(kind, { settings: { SYNC_CONCURRENCY: '1' } })
    const app = await live.openApp()
    const collabSync = onApp(app)
    await collabSync.pause({ until: inAnHour(), reason: 'the owner asked' })
    const runId = await startOn(app)
    const worker = await startWorker(app, jobs, { keepsSchedule: false })
    const wait = await until('a job waits', () => {
      const hasJobs = app.inProgress.size > 0
      return hasJobs && findWait(app.sync, { lock: null, failed: null, refresh: null, hasJobs })
    })
    expect(wait).toMatchObject({
      kind: 'paused_by_person',
      by: 'a test',
      reason: 'the owner asked',
    })
    expect(live.standIn.calls.total).toBe(0)
    expect((await collabSync.resume()).pause).toBeNull()
    await app.followLimits()
    expect(await settled(live.database, runId)).toMatchObject({
      status: 'succeeded',
      waited_ms: 0,
      waited_throttled_ms: 0,
    })
    await worker.stop()
  })

  test('puts off the nightly run, which starts once when it ends', async (context) => {
    if (isMissing(kind)) return context.skip()
    const live = await openLoaded(kind)
    const [app, other] = [await live.openApp(), await live.openApp()]
    const collabSync = onApp(app)
    const worker = await startWorker(app, jobs, { keepsSchedule: true })
    await collabSync.setSchedule({ cron: '0 2 * * *' })
    await collabSync.pause({ until: inAnHour() })
    const runs = async () => (await collabSync.listRuns()).items
    const { requests } = app.queue.bull
    const job = await requests.add(NIGHTLY, {})
    await until('the nightly job is done', async () => await job.isCompleted())
    expect(await runs()).toEqual([])

    await live.rows(`insert into sync.nightly_due values (now());
      update collab_store.definitions set schedule_since = now() - interval '1 day'`)
    await makeUpForPausedNight(other.store.database, other.queue)
    expect(await runs()).toEqual([])
    await collabSync.resume()
    const makeUp = () =>
      Promise.all(
        [app, other].map(({ store, queue }) => makeUpForPausedNight(store.database, queue)),
      )
    await makeUp()
    await until('its run is over', async () => (await runs())[0]?.finishedAt)
    await makeUp()
    expect(await runs()).toMatchObject([{ trigger: 'schedule', status: 'succeeded' }])
    expect(
      await live.rows('select due_at from sync.nightly_due where due_at <= now()'),
    ).toHaveLength(1)
    // A worker that read the night as due before its run, and enqueues it after that.
    await live.rows(`update sync.runs set requested_at = requested_at - interval '1 day'`)
    await makeUpForPausedNight(other.store.database, other.queue)
    await until(
      'the queue is empty',
      async () => (await requests.getActiveCount()) + (await requests.count()) === 1,
    )
    expect(await runs()).toHaveLength(1)
    await worker.stop()
  })
})

describe('the pace', async () => {
  const database = await createTestDatabase()
  const collabSync = onDatabase(database.pool)
  const actions = async () =>
    (await collabSync.listActions()).items.map(({ action, target, reason }) => ({
      action,
      target,
      reason,
    }))

  test('is at most SYNC_RATE_LIMIT of the live workers, and each change is an action', async () => {
    const none = { callsPerSecond: null, lowestRateLimit: null, pause: null }
    expect(await collabSync.getPace()).toEqual({ ...none, setAt: null, setBy: null })
    expect(await collabSync.setPace({ callsPerSecond: 12.5 })).toMatchObject({
      callsPerSecond: 12.5,
      setBy: 'a test',
      setAt: expect.any(Date),
    })
    await database.pool.query(
      `insert into sync.workers (worker_id, started_at, heartbeat_at, calls_in_flight, calls_limit, rate_limit)
      values ('w', now(), now(), 0, 1, 10)`,
    )
    await expect(collabSync.setPace({ callsPerSecond: 10.5 })).rejects.toThrow(
      'callsPerSecond must not be above SYNC_RATE_LIMIT, which is 10 calls a second.',
    )
    expect(await collabSync.getPace()).toMatchObject({ callsPerSecond: 12.5, lowestRateLimit: 10 })
    for (const callsPerSecond of [0, -1, NaN])
      await expect(collabSync.setPace({ callsPerSecond })).rejects.toThrow('callsPerSecond')
    expect(await collabSync.setPace({ callsPerSecond: null })).toMatchObject({
      callsPerSecond: null,
    })
    await collabSync.setPace({ callsPerSecond: null })
    expect(await actions()).toEqual([
      { action: 'pace_set', target: 'none', reason: null },
      { action: 'pace_set', target: '12.5 calls a second', reason: null },
    ])
  })

  test('a pause always ends within a day, and a second one changes the first', async () => {
    const [past, far] = [inMs(-1), inMs(86_400_000 + 60_000)]
    await expect(collabSync.pause({ until: past })).rejects.toThrow('until must be in the future')
    await expect(collabSync.pause({ until: far })).rejects.toThrow(
      'A pause lasts at most 24 hours.',
    )
    expect(await database.pool.query('select from sync.pauses')).toMatchObject({ rowCount: 0 })
    const first = await collabSync.pause({ until: inAnHour(), reason: 'first' })
    const until = inMs(7_200_000)
    const { pause } = await collabSync.pause({ until })
    expect(pause).toMatchObject({ since: first.pause?.since, by: 'a test', reason: null })
    expect(Number(pause?.until)).toBeGreaterThan(Number(first.pause?.until))
    expect((await collabSync.resume()).pause).toBeNull()
    await collabSync.resume()
    expect((await actions()).slice(0, 3)).toMatchObject([
      { action: 'calls_resumed' },
      { action: 'calls_paused', reason: null },
      { action: 'calls_paused', reason: 'first' },
    ])
  })
})
