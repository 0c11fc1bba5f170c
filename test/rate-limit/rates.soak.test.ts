import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { RateLimiter } from '../../src/core/rate-limit/limiter.ts'
import { postgresStore, redisStore } from '../../src/core/rate-limit/stores.ts'
import type { SharedRateLimit } from '../../src/core/service/shared-rate-limit.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { redisUrl } from '../helpers/redis.ts'
import { callFor, meanPerSecond, mostInOneSecond, untilUsed } from './rates.ts'

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
    const shared =
      store === 'Redis' ? redisStore(redis as Redis, name) : postgresStore(database.pool, name)
    return Array.from({ length: count }, () => new RateLimiter(shared, { callsPerSecond, log }))
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
      await Promise.all(limits.map((limit) => limit.close()))
    },
  )
})
