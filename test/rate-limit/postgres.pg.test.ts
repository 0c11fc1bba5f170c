import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../src/log.ts'
import { openPostgresRateLimit } from '../../src/rate-limit/postgres.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { sharedLimitSuite } from './shared-limit-suite.ts'
import { until } from '../helpers/until.ts'

let database: TestDatabase
let pool: TestDatabase['pool']
beforeAll(async () => {
  database = await createTestDatabase()
  pool = database.pool
})
afterAll(() => database.drop())

describe('the pace on PostgreSQL', () => {
  sharedLimitSuite(() => {
    const name = randomUUID()
    return (options) => openPostgresRateLimit(pool, name, options)
  })

  test('times left from before the clock was set back stop nobody', async () => {
    const name = randomUUID()
    await pool.query(
      `insert into sync.pace values ($1, now() + interval '1 day', now() + interval '1 day')`,
      [name],
    )
    const pace = openPostgresRateLimit(pool, name, {
      callsPerSecond: 100,
      log: createLog('silent'),
    })
    await pace.acquire()
    await pace.pauseAll(10_000)
    const { rows } = await pool.query(
      `select greatest(next_at, paused_until) < now() + interval '1 minute' as mended
       from sync.pace where name = $1`,
      [name],
    )
    expect(rows).toEqual([{ mended: true }])
    await pace.close()
  })

  test('while PostgreSQL is away a limit waits, and goes on when it is back', async () => {
    const name = randomUUID()
    const pace = openPostgresRateLimit(pool, name, {
      callsPerSecond: 100,
      log: createLog('silent'),
    })
    await pool.query('alter table sync.pace rename to pace_away')
    let isLetGo = false
    const waiting = pace.acquire().then(() => (isLetGo = true))
    await until('it has tried', async () => {
      const { rows } = await pool.query(
        `select from pg_stat_activity where query like '%sync.pace%' and state = 'idle in transaction (aborted)'
          or query like '%sync.pace%' and pid <> pg_backend_pid()`,
      )
      return rows.length > 0
    })
    expect(isLetGo).toBe(false)
    await pool.query('alter table sync.pace_away rename to pace')
    await waiting
    await pace.close()
  })
})
