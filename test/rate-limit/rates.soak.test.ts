import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { RateLimiter } from '../../src/core/rate-limit/limiter.ts'
import { postgresStore, redisStore } from '../../src/core/rate-limit/stores.ts'
import type { SharedRateLimit } from '../../src/core/service/wait.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { redisUrl } from '../helpers/redis.ts'
import { callFor, meanPerSecond, mostInOneSecond, untilUsed } from './rates.ts'
import type { OpenOne } from './shared-limit-suite.ts'

const log = createLog('silent')
const key = `test:rates:${randomUUID()}`
let database: TestDatabase
let redis: Redis | undefined

beforeAll(async () => {
  database = await createTestDatabase()
  const url = redisUrl()
  if (url !== undefined) redis = new Redis(url)
})
afterAll(async () => {
  await database?.drop()
  const keys = (await redis?.keys(`${key}*`)) ?? []
  if (keys.length > 0) await redis?.del(keys)
  redis?.disconnect()
})

describe.each([
  ['PostgreSQL', false],
  ['Redis', redisUrl() === undefined],
])('a limit that processes share on %s', (store, isMissing) => {
  function open(count: number, callsPerSecond: number | null): SharedRateLimit[] {
    const name = `${key}:${randomUUID()}`
    const one: OpenOne = (options) =>
      store === 'Redis'
        ? new RateLimiter(redisStore(redis as Redis, name), options)
        : new RateLimiter(postgresStore(database.pool, name), options)
    return Array.from({ length: count }, () => one({ callsPerSecond, log }))
  }

  test.skipIf(isMissing).each([
    [40, 4000],
    [1000, 2000],
  ])(
    'holds for three workers at %d calls a second in any second, and can be used',
    async (callsPerSecond, forMs) => {
      const limits = open(3, callsPerSecond)
      await untilUsed(callsPerSecond * 0.75, async () => {
        const times = await callFor(limits, forMs)
        expect(mostInOneSecond(times)).toBeLessThanOrEqual(callsPerSecond * 1.2)
        return meanPerSecond(times)
      })
      await closeAll(limits)
    },
  )

  test.skipIf(isMissing)(
    'a pause of one is heard by the others, with a limit and without',
    async () => {
      for (const callsPerSecond of [500, null]) {
        const [first, second] = open(2, callsPerSecond) as [SharedRateLimit, SharedRateLimit]
        await Promise.all([first.acquire(), second.acquire()])
        const until = performance.now() + 2500
        await first.pauseAll(2500)
        await sleep(1100)
        // Without a limit, the call that finds the news of the last second stale brings them.
        if (callsPerSecond === null) await second.acquire()
        await sleep(100)
        await second.acquire()
        expect(performance.now()).toBeGreaterThan(until - 100)
        await closeAll([first, second])
      }
    },
  )
})

async function closeAll(limits: SharedRateLimit[]): Promise<void> {
  await Promise.all(limits.map((limit) => limit.close()))
}
