import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../src/log.ts'
import { openProcessRateLimit } from '../../src/rate-limit/limiter.ts'
import { openPostgresRateLimit } from '../../src/rate-limit/postgres.ts'
import { openRedisRateLimit } from '../../src/rate-limit/redis.ts'
import type { SharedRateLimit } from '../../src/service/attempt.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { randomPrefix, redisUrl } from '../helpers/redis.ts'
import { callFor, mostInOneSecond, untilUsed } from './real-rates.ts'
import type { OpenOne } from './shared-limit-suite.ts'

/** Rates as they are kept in real time. */

let database: TestDatabase
let redis: Redis
beforeAll(async () => {
  database = await createTestDatabase()
  redis = new Redis(redisUrl() as string)
})
afterAll(async () => {
  redis?.disconnect()
  await database?.drop()
})

const log = createLog('silent')

test('one process holds its limit in any second, and can use it', async () => {
  const pace = openProcessRateLimit({ callsPerSecond: 100, log })
  await untilUsed(75, async () => {
    const times = await callFor([pace], 2000)
    expect(mostInOneSecond(times)).toBeLessThanOrEqual(120)
    return times.length / 2
  })
  await pace.close()
})

const KINDS: Record<string, () => OpenOne> = {
  PostgreSQL: () => {
    const name = randomUUID()
    return (options) => openPostgresRateLimit(database.pool, name, options)
  },
  Redis: () => {
    const key = randomPrefix()
    return (options) => openRedisRateLimit(redis, key, options)
  },
}

describe.each(Object.entries(KINDS))('on %s', (_name, openOne) => {
  function open(count: number, callsPerSecond: number | null): SharedRateLimit[] {
    const one = openOne()
    return Array.from({ length: count }, () => one({ callsPerSecond, log }))
  }

  test.each([
    [40, 4000],
    [1000, 2000],
  ])(
    'three workers at %d calls a second hold it in any second, and can use it',
    async (limit, forMs) => {
      const paces = open(3, limit)
      await untilUsed(limit * 0.75, async () => {
        const times = await callFor(paces, forMs)
        expect(mostInOneSecond(times)).toBeLessThanOrEqual(limit * 1.2)
        return times.length / (((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000)
      })
      await closeAll(paces)
    },
  )

  test('a pause of one is heard by the others, with a limit and without', async () => {
    for (const limit of [500, null]) {
      const [first, second] = open(2, limit) as [SharedRateLimit, SharedRateLimit]
      await Promise.all([first.acquire(), second.acquire()])
      const until = performance.now() + 2500
      await first.pauseAll(2500)
      await sleepMs(1100)
      // Without a limit, the call that finds the news of the last second stale brings them.
      if (limit === null) await second.acquire()
      await sleepMs(100)
      await second.acquire()
      expect(performance.now()).toBeGreaterThan(until - 100)
      await closeAll([first, second])
    }
  })
})

async function closeAll(paces: SharedRateLimit[]): Promise<void> {
  await Promise.all(paces.map((pace) => pace.close()))
}

function sleepMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
