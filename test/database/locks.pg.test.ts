import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { setDefinitions } from '../../src/core/database/definitions.ts'
import { lock } from '../../src/core/database/locks.ts'
import { transaction } from '../../src/core/database/pool.ts'
import { hint } from '../../src/features/refresh/hint.ts'
import { Planner } from '../../src/features/refresh/planner.ts'
import { databaseClock } from '../../src/features/refresh/polling.ts'
import { onServer, urlWith } from '../helpers/database.ts'
import { openLive } from '../helpers/live.ts'
import { busyPlace, scopeOf } from '../helpers/places.ts'
import { until } from '../helpers/until.ts'

const role = `cs_test_role_${randomBytes(5).toString('hex')}`

const live = await openLive('none')
const app = await live.openApp()
await onServer((server) =>
  server.query(`create role ${role} login password 'pw' in role collab_reader`),
)
/** An analyst's connection. */
const reader: pg.Client = new pg.Client(
  urlWith(live.database.url, { username: role, password: 'pw' }),
)
await reader.connect()
afterAll(async () => {
  await reader?.end()
  await live?.close()
  await onServer((server) => server.query(`drop role if exists ${role}`))
})

test('import, run, hint and refresh wait for no advisory lock that a reader holds', async () => {
  const scope = scopeOf(busyPlace(live.world, 1))
  // Those that earlier versions took, and others; of organizations by their keys.
  await reader.query(
    `select pg_advisory_lock(classid, objid)
    from generate_series(40130709, 40130714) classid, generate_series(0, 50) objid`,
  )
  await reader.query(`select pg_advisory_lock(40130712, hashtext($1::jsonb::text))`, [
    JSON.stringify({ ...scope, operations: ['comments'] }),
  ])
  await reader.query(`select pg_advisory_lock(key)
    from generate_series(0, 50) n, unnest(array[n, 40130700 + n, 4013071000 + n]) key`)
  const { rows } = await reader.query(
    `select count(*)::int as held from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`,
  )
  expect(rows[0].held).toBe(6 * 51 + 1 + 3 * 51)

  await live.importCatalog()
  const keys = await live.rows(
    'select max(organization_key) as max from collab_store.organizations',
  )
  expect(keys[0]?.max).toBeLessThanOrEqual(50)
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  const { database } = app.store
  expect((await hint({ database }, scope)).items).toHaveLength(1)
  await setDefinitions(database, { freshnessPromiseMs: 26 * 3_600_000, refreshBudget: 1000 })
  const moment = await databaseClock(database).moment()
  // The run has just checked everything.
  const later = { ...moment, at: new Date(moment.at.getTime() + 60_000), budget: 1000 }
  expect(await new Planner(app.sync).next(later, null)).not.toBeNull()
})

test('a reader can lock and read none of the rows', async () => {
  for (const statement of [
    'lock table sync.locks in access share mode',
    'select from sync.locks for key share',
    `insert into sync.locks values ('users', 1)`,
    'truncate sync.locks',
  ]) {
    await reader.query('begin')
    const denied = 'permission denied for schema sync'
    await expect(reader.query(statement), statement).rejects.toThrow(denied)
    await reader.query('rollback')
  }
})

test('one transaction at a time has a lock, also on its first use and after a rollback', async () => {
  const { pool } = live.database
  const key = 1_000_000
  const has: string[] = []
  let isTaken = false
  let release = () => {}
  const rolledBack = transaction(pool, async (client) => {
    await lock(client, 'users', key)
    await lock(client, 'users', key)
    has.push('first')
    isTaken = true
    await new Promise<void>((resolve) => (release = resolve))
    has.push('first ends')
    throw new Error('Rolled back.')
  })
  await until('the first has the lock', () => isTaken)
  const others = ['second', 'third'].map((name) =>
    transaction(pool, async (client) => {
      await lock(client, 'users', key)
      has.push(name)
      await client.query('select')
      has.push(`${name} ends`)
    }),
  )
  await transaction(pool, (client) => lock(client, 'users', key + 1))
  await until('the others wait', async () => {
    const waiting = await live.rows(
      `select from pg_stat_activity
      where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
    )
    return waiting.length === 2
  })
  release()
  await expect(rolledBack).rejects.toThrow('Rolled back.')
  await Promise.all(others)
  const [next, last] = has[2] === 'second' ? ['second', 'third'] : ['third', 'second']
  expect(has).toEqual(['first', 'first ends', next, `${next} ends`, last, `${last} ends`])
})

test('a lock that was used before writes no row', async () => {
  const { pool } = live.database
  const take = () => transaction(pool, (client) => lock(client, 'catalog'))
  const rows = () =>
    live.rows('select ctid, xmin, name, organization_key from sync.locks order by 3, 4')
  await take()
  const before = await rows()
  await take()
  expect(await rows()).toEqual(before)
})
