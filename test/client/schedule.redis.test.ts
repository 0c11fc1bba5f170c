import type { Queue } from 'bullmq'
import { beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import type { App } from '../../src/worker/app.ts'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import { nextDue } from '../../src/base/cron.ts'
import { openQueueLate } from '../../src/http/start-http.ts'
import { RepeatedFault } from '../../src/base/log.ts'
import { openBackend, QUEUE_NAMES } from '../../src/core/queue/backend.ts'
import { NIGHTLY, nextNightly, registerSchedule } from '../../src/core/queue/schedule.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { QUEUE_KINDS, isMissing, openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { randomPrefix } from '../helpers/redis.ts'
import { until } from '../helpers/until.ts'
import { onApp } from './on-app.ts'

describe.each(QUEUE_KINDS)('the nightly schedule with the queue on %s', (kind) => {
  let live: Live
  let app: App
  let collabSync: CollabSync

  beforeEach(async (context) => {
    if (isMissing(kind)) return context.skip()
    live = await openLoaded(kind)
    app = await live.openApp()
    collabSync = onApp(app)
  })

  test('is that of the settings until it is set, and can be removed', async () => {
    expect(await collabSync.getSchedule()).toMatchObject({
      cron: '0 2 * * *',
      timeZone: 'UTC',
      setBy: 'settings',
    })
    const set = await collabSync.setSchedule({ cron: '30 1 * * *', timeZone: 'Asia/Tokyo' })
    expect(set).toMatchObject({ cron: '30 1 * * *', timeZone: 'Asia/Tokyo', setBy: 'schedule set' })
    expect(set.next?.toISOString()).toMatch(/T16:30:00\.000Z$/)
    expect(await nextNightly(app.queue)).toEqual(set.next)
    // The zone that is set stays until another one is given.
    expect(await collabSync.setSchedule({ cron: '15 3 * * *' })).toMatchObject({
      cron: '15 3 * * *',
      timeZone: 'Asia/Tokyo',
    })
    expect(await collabSync.removeSchedule()).toEqual({
      registered: false,
      cron: null,
      removedCron: '15 3 * * *',
      timeZone: 'Asia/Tokyo',
      setBy: 'schedule remove',
      by: 'a test',
      setAt: expect.any(Date),
      next: null,
    })
    expect(await nextNightly(app.queue)).toBeNull()
    expect(await collabSync.getSchedule()).toMatchObject({ cron: null })
    expect(await collabSync.setSchedule({})).toMatchObject({
      cron: '15 3 * * *',
      removedCron: null,
      timeZone: 'Asia/Tokyo',
    })
  })

  test('is computed by us and not by BullMQ, in the queue and in the worker', async () => {
    // The first Monday of a month, which BullMQ's own parser does not know.
    const schedule = { cron: '0 2 1-7 * +1', timeZone: 'UTC' }
    const { next } = await collabSync.setSchedule(schedule)
    expect(await nextNightly(app.queue)).toEqual(next)
    const [job] = await app.queue.bull.requests.getDelayed()
    await job?.promote()
    const worker = await startWorker(await live.openApp(), jobs, { keepsSchedule: false })
    const afterNext = nextDue(schedule, next ?? undefined).getTime()
    await until(
      'the one after it is registered',
      async () => (await nextNightly(app.queue))?.getTime() === afterNext,
    )
    await worker.stop()
  })

  test('is registered again where its next job was never added, and left alone while that is due', async () => {
    const schedule = { cron: '0 2 * * *', timeZone: 'UTC' }
    const fault = new RepeatedFault(app.log, 'queue connection')
    const { classes, options, close } = await openBackend(app.queue.place, 'worker', fault)
    // It is due at once, and then never again.
    const queue = new classes.Queue(QUEUE_NAMES.requests, {
      ...options,
      settings: { repeatStrategy: (ms: number) => ms + 1 },
    }) as unknown as Queue
    const { cron: pattern, timeZone: tz } = schedule
    await queue.upsertJobScheduler(
      NIGHTLY,
      { pattern, tz },
      { name: NIGHTLY, opts: { removeOnComplete: true } },
    )
    const due = await nextNightly(app.queue)
    await registerSchedule(app.queue, schedule)
    expect(await nextNightly(app.queue)).toEqual(due)
    const last = new classes.Worker(QUEUE_NAMES.requests, async () => null, {
      ...options,
      settings: { repeatStrategy: () => undefined },
    })
    await until(
      'it is worked',
      async () => (await queue.count()) + (await queue.getActiveCount()) === 0,
    )
    await last.close()
    expect(await nextNightly(app.queue)).toEqual(due)
    await registerSchedule(app.queue, schedule)
    expect(Number(await nextNightly(app.queue))).toBeGreaterThan(Number(due))
    expect(await queue.getDelayedCount()).toBe(1)
    await queue.close()
    await close()
  })

  test('that is set while the queue is away is registered by the first worker', async () => {
    const place = { kind: 'redis', url: 'redis://127.0.0.1:1', prefix: randomPrefix() } as const
    const away = openQueueLate(place, app.log)
    const { next } = await onApp(app, { queue: away }).setSchedule({ cron: '30 1 * * *' })
    expect(await nextNightly(app.queue)).toBeNull()
    const worker = await startWorker(await live.openApp(), jobs, { keepsSchedule: true })
    expect(await nextNightly(app.queue)).toEqual(next)
    await worker.stop()
    await away.close()
  })
})
