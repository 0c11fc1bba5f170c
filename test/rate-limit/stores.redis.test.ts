import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresStore, redisStore } from '../../src/core/rate-limit/stores.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { randomPrefix, redisUrl } from '../helpers/redis.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Slots so long that a slow machine changes nothing. */
const SPACING = { intervalMs: HOUR_MS, toleranceMs: MINUTE_MS }

let database: TestDatabase
let redis: Redis
beforeAll(async () => {
  database = await createTestDatabase()
  redis = new Redis(redisUrl() ?? '', { lazyConnect: true })
})
afterAll(async () => {
  redis.disconnect()
})

/** Opens a new rate. `set` moves its next slot, or the end of its pause, to a time from now. */
const openers = {
  PostgreSQL() {
    const name = randomPrefix()
    const set = async (column: 'next_at' | 'paused_until', inMs: number) => {
      await database.pool.query(
        `insert into sync.rate_limit_slots (name, next_at, paused_until)
         select $1, at, at from (select now() + make_interval(secs => $2)) t (at)
         on conflict (name) do update set ${column} = excluded.${column}`,
        [name, inMs / 1000],
      )
    }
    return { name, store: postgresStore(database.pool, name), set }
  },
  Redis() {
    const name = randomPrefix()
    const set = async (column: 'next_at' | 'paused_until', inMs: number) => {
      const nowMs = Number((await redis.time())[0]) * 1000
      await redis.hset(name, column === 'next_at' ? 'next' : column, nowMs + inMs)
    }
    return { name, store: redisStore(redis, name), set }
  },
}

function expectBetween(ms: number, least: number, most: number): void {
  expect([ms, ms > least && ms <= most]).toEqual([ms, true])
}
/** A slot that is late by as much as may be made up for. */
const expectFree = (waitMs: number) => expectBetween(waitMs, -1.5 * MINUTE_MS, 10 - MINUTE_MS)

describe.each(['PostgreSQL', 'Redis'] as const)('a rate that processes share on %s', (kind) => {
  const ifThere = test.skipIf(kind === 'Redis' && !redisUrl())

  ifThere('gives each process slots of its own, in turn', async () => {
    const { store } = openers[kind]()
    const first = await store.take(2, SPACING)
    expect(first.pauseMs).toBe(0)
    expectFree(first.waitMs)
    const taken = await Promise.all(Array.from({ length: 16 }, () => store.take(1, SPACING)))
    const hours = taken.map(({ waitMs }) => Math.round(waitMs / HOUR_MS)).toSorted((a, b) => a - b)
    expect(hours).toEqual(Array.from({ length: 16 }, (_, n) => n + 2))
  })

  ifThere('loses slots that no process took', async () => {
    const { store, set } = openers[kind]()
    await set('next_at', -24 * HOUR_MS)
    expectFree((await store.take(1, SPACING)).waitMs)
    expectBetween((await store.take(1, SPACING)).waitMs, HOUR_MS / 2, HOUR_MS)
  })

  ifThere('reserves no slot during a pause, and the longest pause decides', async () => {
    const { store, set } = openers[kind]()
    await set('next_at', -HOUR_MS)
    await store.pause(HOUR_MS)
    await store.pause(MINUTE_MS)
    expectBetween(await store.pauseMs(), HOUR_MS / 2, HOUR_MS)
    expectBetween((await store.take(1, SPACING)).pauseMs, HOUR_MS / 2, HOUR_MS)
    await set('paused_until', -MINUTE_MS)
    expect(await store.pauseMs()).toBe(0)
    expectFree((await store.take(1, SPACING)).waitMs)
  })

  ifThere('ignores times from before the clock was set back', async () => {
    const { store, set } = openers[kind]()
    await set('next_at', 1000 * HOUR_MS)
    await set('paused_until', 2 * HOUR_MS)
    expect(await store.pauseMs()).toBe(0)
    const { pauseMs, waitMs } = await store.take(1, SPACING)
    expect(pauseMs).toBe(0)
    expectFree(waitMs)
    await store.pause(MINUTE_MS)
    expectBetween(await store.pauseMs(), 0, MINUTE_MS)
  })
})

test.skipIf(!redisUrl())('an unused key on Redis expires after two hours', async () => {
  for (const step of ['take', 'pause'] as const) {
    const { name, store } = openers.Redis()
    await (step === 'take' ? store.take(1, SPACING) : store.pause(1))
    expectBetween(await redis.pttl(name), HOUR_MS, 2 * HOUR_MS)
  }
})
