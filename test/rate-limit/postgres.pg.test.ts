import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { RateLimiter } from '../../src/core/rate-limit/limiter.ts'
import { postgresStore } from '../../src/core/rate-limit/stores.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'
import { sharedLimitSuite } from './shared-limit-suite.ts'

let database: TestDatabase
let pool: TestDatabase['pool']
beforeAll(async () => {
  database = await createTestDatabase()
  pool = database.pool
})
afterAll(() => database.drop())

describe('the shared rate limit on PostgreSQL', () => {
  let newest = ''
  sharedLimitSuite(
    () => {
      const name = (newest = randomUUID())
      return (options) => new RateLimiter(postgresStore(pool, name), options)
    },
    async () => {
      const { rows } = await pool.query<{ ms: number }>(
        `select extract(epoch from next_at - clock_timestamp())::float8 * 1000 as ms from sync.pace where name = $1`,
        [newest],
      )
      return rows[0]?.ms ?? 0
    },
  )

  test('times left from before the clock was set back stop nobody', async () => {
    const name = randomUUID()
    await pool.query(
      `insert into sync.pace values ($1, now() + interval '1 day', now() + interval '1 day')`,
      [name],
    )
    const limit = new RateLimiter(postgresStore(pool, name), {
      callsPerSecond: 100,
      log: createLog('silent'),
    })
    await limit.acquire()
    await limit.pauseAll(10_000)
    const { rows } = await pool.query(
      `select greatest(next_at, paused_until) < now() + interval '1 minute' as mended
       from sync.pace where name = $1`,
      [name],
    )
    expect(rows).toEqual([{ mended: true }])
    await limit.close()
  })

  test('while PostgreSQL is away a limit waits, and goes on when it is back', async () => {
    const name = randomUUID()
    const lines: string[] = []
    const log = createLog('info', { write: (line) => lines.push(line) })
    const limit = new RateLimiter(postgresStore(pool, name), { callsPerSecond: 100, log })
    await pool.query('alter table sync.pace rename to pace_away')
    let isLetGo = false
    const waiting = Promise.resolve(limit.acquire()).then(() => (isLetGo = true))
    await until('the limit found its table away', () => lines.length > 0)
    expect(isLetGo).toBe(false)
    await pool.query('alter table sync.pace_away rename to pace')
    await waiting
    await limit.close()
  })
})
