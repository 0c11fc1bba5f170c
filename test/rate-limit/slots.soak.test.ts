import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import * as rateLimit from '../../src/core/database/statements/rate-limit.ts'
import { RateLimiter } from '../../src/core/rate-limit/limiter.ts'
import { redisStore } from '../../src/core/rate-limit/stores.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { redisUrl } from '../helpers/redis.ts'

const HOUR_MS = 3_600_000
/** A machine may be busy for so long between two lines of a test. */
const SLACK_MS = 5000

describe('slots of the rate on PostgreSQL', () => {
  let database: TestDatabase
  beforeAll(async () => void (database = await createTestDatabase()))
  afterAll(() => database?.drop())

  const name = randomUUID()
  const take = (slotsMs: number, of = name) =>
    rateLimit.take.one(database.pool, {
      name: of,
      slotsMs,
      catchUpMs: 50,
      furthestSlotMs: 6e4,
      furthestPauseMs: HOUR_MS,
    })
  const pauseMs = async (of: string) =>
    (await rateLimit.read.first(database.pool, { name: of, longestMs: HOUR_MS }))?.pauseMs
  const pause = (of: string, ms: number) =>
    rateLimit.pause.run(database.pool, { name: of, pauseMs: ms, longestMs: HOUR_MS })

  test('follow each other, and are late by no more than may be made up for', async () => {
    const first = await take(10_000)
    expect(first.pauseMs).toBe(0)
    expect(first.waitMs).toBeLessThanOrEqual(-50)
    expect(first.waitMs).toBeGreaterThan(-50 - SLACK_MS)
    const second = await take(20_000)
    expect(second.waitMs).toBeGreaterThan(10_000 - 50 - SLACK_MS)
    expect(second.waitMs).toBeLessThanOrEqual(10_000 - 50)
    const third = await take(1)
    expect(third.waitMs).toBeGreaterThan(30_000 - 50 - SLACK_MS)
    expect(third.waitMs).toBeLessThanOrEqual(30_000 - 50)
  })

  test('that nobody took for long are lost', async () => {
    const of = randomUUID()
    await database.pool.query(`insert into sync.pace values ($1, now() - interval '1 hour')`, [of])
    expect((await take(10, of)).waitMs).toBeGreaterThan(-50 - SLACK_MS)
  })

  test('are not reserved while a pause lasts, which the longest of all decides', async () => {
    const of = randomUUID()
    await take(10_000, of)
    await pause(of, 40_000)
    await pause(of, 20_000)
    const paused = await take(10_000, of)
    expect(paused.pauseMs).toBeGreaterThan(40_000 - SLACK_MS)
    expect(paused.pauseMs).toBeLessThanOrEqual(40_000)
    expect(await pauseMs(of)).toBeGreaterThan(40_000 - SLACK_MS)
    await database.pool.query(
      `update sync.pace set paused_until = now() - interval '1 second' where name = $1`,
      [of],
    )
    expect(await pauseMs(of)).toBeUndefined()
    expect((await take(1, of)).waitMs).toBeLessThanOrEqual(10_000)
  })
})

describe.skipIf(!redisUrl())('slots of the rate on Redis', () => {
  const key = `test:slots:${randomUUID()}`
  let redis: Redis
  beforeAll(() => void (redis = new Redis(redisUrl() as string)))
  afterAll(async () => {
    const keys = await redis.keys(`${key}*`)
    if (keys.length > 0) await redis.del(keys)
    redis.disconnect()
  })

  /** One call lets one group of slots be reserved: one slot of two seconds. */
  async function takeOne(own: string): Promise<void> {
    const limit = new RateLimiter(redisStore(redis, own), {
      callsPerSecond: 0.5 / 0.985,
      log: createLog('silent'),
    })
    await limit.acquire()
    await limit.close()
  }
  const stored = async (own: string, field: string) => Number(await redis.hget(own, field))

  async function nowMs(): Promise<number> {
    const [seconds, micros] = await redis.time()
    return Number(seconds) * 1000 + Number(micros) / 1000
  }

  test('begin a little before now, and are as long as they are asked for', async () => {
    const own = `${key}:${randomUUID()}`
    const before = await nowMs()
    await takeOne(own)
    const next = await stored(own, 'next')
    expect(next).toBeGreaterThanOrEqual(before - 50 + 2000 - 1)
    expect(next).toBeLessThanOrEqual((await nowMs()) - 50 + 2000 + 1)
  })

  test('are not reserved while a pause lasts', async () => {
    const own = `${key}:${randomUUID()}`
    await redis.hset(own, { paused_until: (await nowMs()) + 400 })
    const begun = performance.now()
    await takeOne(own)
    expect(performance.now() - begun).toBeGreaterThan(350)
    expect(await stored(own, 'next')).toBeGreaterThan((await nowMs()) - SLACK_MS)
  })

  test('are kept for twice the longest pause, and a pause too', async () => {
    for (const step of ['take', 'pause'] as const) {
      const own = `${key}:${randomUUID()}`
      const limit = new RateLimiter(redisStore(redis, own), {
        callsPerSecond: 100,
        log: createLog('silent'),
      })
      await (step === 'take' ? limit.acquire() : limit.pauseAll(1000))
      await limit.close()
      const keptMs = await redis.pttl(own)
      expect(keptMs).toBeGreaterThan(2 * HOUR_MS - SLACK_MS)
      expect(keptMs).toBeLessThanOrEqual(2 * HOUR_MS)
    }
  })

  test('wait for the longest pause of all, and a shorter one changes nothing', async () => {
    const own = `${key}:${randomUUID()}`
    const pauseFor = async (ms: number) => {
      const limit = new RateLimiter(redisStore(redis, own), {
        callsPerSecond: 1,
        log: createLog('silent'),
      })
      await limit.pauseAll(ms)
      await limit.close()
    }
    const before = await nowMs()
    await pauseFor(40_000)
    await pauseFor(20_000)
    const until = await stored(own, 'paused_until')
    expect(until).toBeGreaterThanOrEqual(before + 40_000 - 1)
    expect(until).toBeLessThanOrEqual((await nowMs()) + 40_000)
    await redis.hset(own, { paused_until: (await nowMs()) + HOUR_MS + 60_000 })
    await pauseFor(1000)
    expect(await stored(own, 'paused_until')).toBeLessThan((await nowMs()) + 1001)
  })
})
