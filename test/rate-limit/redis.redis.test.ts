import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { RateLimiter } from '../../src/core/rate-limit/limiter.ts'
import { redisStore } from '../../src/core/rate-limit/stores.ts'
import { redisUrl } from '../helpers/redis.ts'
import { sharedLimitSuite } from './shared-limit-suite.ts'

const key = `test:pace:${randomUUID()}`
let redis: Redis

describe.skipIf(!redisUrl())('the shared rate limit on Redis', () => {
  beforeAll(() => {
    redis = new Redis(redisUrl() as string)
  })
  afterAll(async () => {
    const keys = await redis.keys(`${key}*`)
    if (keys.length > 0) await redis.del(keys)
    redis.disconnect()
  })

  let newest = ''
  sharedLimitSuite(
    () => {
      const own = (newest = `${key}:${randomUUID()}`)
      return (options) => new RateLimiter(redisStore(redis, own), options)
    },
    async () => {
      const [seconds, micros] = await redis.time()
      const next = Number(await redis.hget(newest, 'next'))
      return next - Number(seconds) * 1000 - Number(micros) / 1000
    },
  )

  test('times left from before the clock was set back stop nobody', async () => {
    const own = `${key}:${randomUUID()}`
    const later = Date.now() + 86_400_000
    await redis.hset(own, { next: later, paused_until: later })
    const limit = new RateLimiter(redisStore(redis, own), {
      callsPerSecond: 100,
      log: createLog('silent'),
    })
    await limit.acquire()
    await limit.pauseAll(10_000)
    const [next, pausedUntil] = await redis.hmget(own, 'next', 'paused_until')
    expect(Math.max(Number(next), Number(pausedUntil))).toBeLessThan(later - 80_000_000)
    await limit.close()
  })

  test('while Redis is away a limit waits, and calls without one go on', async () => {
    const away = new Redis('redis://127.0.0.1:1', { lazyConnect: true, maxRetriesPerRequest: 0 })
    away.on('error', () => {})
    const log = createLog('silent')
    const limited = new RateLimiter(redisStore(away, key), { callsPerSecond: 10, log })
    const stop = new AbortController()
    const waiting = limited.acquire(stop.signal)
    const free = new RateLimiter(redisStore(away, key), { callsPerSecond: null, log })
    await free.acquire()
    await free.pauseAll(50)
    await free.acquire()
    stop.abort(new Error('still waiting'))
    await expect(waiting).rejects.toThrow('still waiting')
    await limited.close()
    await free.close()
    away.disconnect()
  })
})
