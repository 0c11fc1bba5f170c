import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import type { App } from '../../src/worker/app.ts'
import * as workers from '../../src/core/database/statements/workers.ts'
import { createLog } from '../../src/base/log.ts'
import { followLimits } from '../../src/core/rate-limit/follow-limits.ts'
import { RateLimiter } from '../../src/core/rate-limit/limiter.ts'
import { postgresStore } from '../../src/core/rate-limit/stores.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { addWorker } from '../database/run-rows.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { openLive } from '../helpers/live.ts'
import { nextSlotMs, slotMs } from './next-slot.ts'

test('the lowest SYNC_RATE_LIMIT of live workers holds for workers that set none, until its worker ends', async () => {
  const live = await openLive('postgres')
  const before = await live.openApp()
  const limited = await live.openApp({ SYNC_RATE_LIMIT: '20' })
  const worker = await startWorker(limited, jobs, { keepsSchedule: false })
  await before.followLimits()
  const after = await live.openApp()
  await callOnce(limited)
  const nextMs = await nextSlotMs(live)
  await Promise.all([before, after].map(callOnce))
  // Each took a slot of 20 calls a second; times are stored to the microsecond.
  expect((await nextSlotMs(live)) - nextMs).toBeGreaterThan(2 * slotMs(20) - 0.1)

  await worker.stop()
  await before.followLimits()
  await live.database.pool.query('drop table sync.rate_limit_slots')
  // With a limit it would wait for its store.
  await callOnce(before)
})

async function callOnce(app: App): Promise<void> {
  await app.sync.collabApi.get('users', { organizationId: 'any' }).catch(() => {})
}

const database = await createTestDatabase()

test('workers that set different limits are logged when that begins and ends; dead ones do not count', async () => {
  const { pool } = database
  const lines: string[] = []
  const log = createLog('info', { write: (line) => lines.push(line) })
  const limiter = new RateLimiter(postgresStore(pool, randomUUID()), { callsPerSecond: 20, log })
  const follow = followLimits(limiter, 20, log)
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
    kind: 'worker',
    version: null,
    configuration: null,
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
