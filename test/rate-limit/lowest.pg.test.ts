import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import type { App } from '../../src/worker/app.ts'
import * as workers from '../../src/core/database/statements/workers.ts'
import { createLog } from '../../src/base/log.ts'
import { followLowest } from '../../src/core/rate-limit/lowest.ts'
import { RateLimiter } from '../../src/core/rate-limit/limiter.ts'
import { postgresStore } from '../../src/core/rate-limit/stores.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { addWorker } from '../database/run-rows.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { isMissing, openLive, QUEUE_KINDS } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { nextSlotMs, slotMs } from './next-slot.ts'

describe.each(QUEUE_KINDS)(
  'the lowest SYNC_RATE_LIMIT of live workers, with the queue on %s',
  (queue) => {
    let live: Live | undefined
    afterEach(() => live?.close())

    test('holds for workers that set none, from their start or their next heartbeat, until its worker ends', async (context) => {
      if (isMissing(queue)) return context.skip()
      live = await openLive(queue)
      const before = await live.openApp()
      const limited = await live.openApp({ SYNC_RATE_LIMIT: '20' })
      const worker = await startWorker(limited, jobs, { keepsSchedule: false })
      await before.followRateLimit()
      const after = await live.openApp()
      await callOnce(limited)
      const nextMs = await nextSlotMs(live)
      await Promise.all([before, after].map(callOnce))
      // Each took a slot of 20 calls a second; times are stored to the microsecond.
      expect((await nextSlotMs(live)) - nextMs).toBeGreaterThan(2 * slotMs(20) - 0.1)

      await worker.stop()
      await before.followRateLimit()
      if (queue === 'redis') return
      await live.database.pool.query('drop table sync.pace')
      // With a limit it would wait for its store.
      await callOnce(before)
    })
  },
)

async function callOnce(app: App): Promise<void> {
  await app.sync.collabApi.getUsers({ organizationId: 'any' }).catch(() => {})
}

describe('workers that set different limits', () => {
  let database: TestDatabase
  beforeAll(async () => void (database = await createTestDatabase()))
  afterAll(() => database.drop())

  test('are named in the log when that begins, and its end is told; the dead do not count', async () => {
    const { pool } = database
    const lines: string[] = []
    const log = createLog('info', { write: (line) => lines.push(line) })
    const limiter = new RateLimiter(postgresStore(pool, randomUUID()), { callsPerSecond: 20, log })
    const follow = followLowest(limiter, 20, log)
    const told = async () => {
      await follow(pool)
      return lines.splice(0).map((line) => {
        const { level, msg, lowest: held } = JSON.parse(line)
        return { level, msg, held }
      })
    }
    const beat = {
      callsInFlight: 0,
      mostCallsInFlight: 1,
      callMs: null,
      problem: null,
      waiting: null,
      settings: null,
    }
    const say = (workerId: string, rateLimit: number | null) =>
      workers.heartbeat.run(pool, { workerId, rateLimit, ...beat })
    expect(await told()).toEqual([])
    await addWorker(pool, 'dead', 31)
    await pool.query('update sync.workers set rate_limit = 1')
    await say('w1', 20)
    expect(await told()).toEqual([])
    for (const name of ['w2', 'w3', 'w4', 'w5']) await say(name, null)
    const sentence = 'The lowest that a live worker sets holds for all of them.'
    const differing = `SYNC_RATE_LIMIT differs: 20 (w1); none (w2, w3, w4 and 1 more). ${sentence}`
    expect(await told()).toEqual([{ level: 'warn', msg: differing, held: 20 }])
    expect(await told()).toEqual([])
    await workers.leave.run(pool, { workerId: 'w1' })
    await say('w0', 5.5)
    const lower = `SYNC_RATE_LIMIT differs: 5.5 (w0); 20 (this process); none (w2, w3, w4 and 1 more). ${sentence}`
    expect(await told()).toEqual([{ level: 'warn', msg: lower, held: 5.5 }])
    await pool.query('delete from sync.workers')
    expect(await told()).toEqual([
      { level: 'info', msg: 'SYNC_RATE_LIMIT no longer differs', held: 20 },
    ])
    await limiter.close()
  })
})
