import { describe, expect, test } from 'vitest'
import { checkDatabase } from '../../src/core/database/connection-errors.ts'
import { openDatabase, transaction } from '../../src/core/database/pool.ts'
import type { Client, Database } from '../../src/core/database/pool.ts'
import { createEmptyDatabase, onServer, urlWith } from '../helpers/database.ts'
import { latch } from '../helpers/latch.ts'

const database = await createEmptyDatabase()
await database.pool.query('create table counters (name text primary key, value bigint not null)')
await database.pool.query(`insert into counters values ('a', 0), ('b', 0)`)

type Latch = ReturnType<typeof latch>

test('bigint is a number as far as numbers are exact, and an error beyond', async () => {
  const rows = await database.rows('select 9007199254740991 as id, count(*) from counters')
  expect(rows).toEqual([{ id: 9007199254740991, count: 2 }])
  await expect(database.pool.query('select 9007199254740992 as id')).rejects.toThrow(
    'bigint 9007199254740992 is beyond 2^53 - 1.',
  )
  expect(await database.rows('select 1 as one')).toEqual([{ one: 1 }])
})

test('a time is a Date, and -infinity the number', async () => {
  const rows = await database.rows(
    `select '2026-01-02T03:04:05.678Z'::timestamptz as at, '-infinity'::timestamptz as never`,
  )
  expect(rows).toEqual([{ at: new Date('2026-01-02T03:04:05.678Z'), never: -Infinity }])
})

describe('transaction', () => {
  test('what it did is there when it resolves, and gone when it rejects', async () => {
    expect(await transaction(database.pool, (client) => add(client, 'a', 5))).toBe(5)
    const failed = transaction(database.pool, async (client) => {
      await add(client, 'a', 5)
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect(await valueOf('a')).toBe(5)
  })

  test('a deadlock is tried again', async () => {
    let tries = 0
    const [first, second] = [latch(), latch()]
    const cross = (own: string, other: string, mine: Latch, theirs: Latch) =>
      transaction(database.pool, async (client) => {
        tries += 1
        await add(client, own, 1)
        mine.open()
        await theirs.opened
        await add(client, other, 1)
      })
    const before = await valueOf('b')
    await Promise.all([cross('a', 'b', first, second), cross('b', 'a', second, first)])
    expect(tries).toBe(3)
    expect(await valueOf('b')).toBe(before + 2)
  })

  test('other errors are not tried again', async () => {
    let tries = 0
    const failed = transaction(database.pool, async (client) => {
      tries += 1
      await client.query('select 1/0')
    })
    await expect(failed).rejects.toThrow('division by zero')
    expect(tries).toBe(1)
  })

  test('a connection lost between two statements fails the work, not the process, and the pool goes on', async () => {
    const failed = transaction(database.pool, async (client) => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      await terminate(rows[0]?.pid)
      await new Promise((resolve) => setTimeout(resolve, 200))
      await client.query('select 1')
    })
    await expect(failed).rejects.toThrow()
    expect(await valueOf('a')).toBeGreaterThan(0)
  })

  test('an idle connection that is lost is replaced', async () => {
    const pool = openDatabase(database.url, { max: 1 })
    const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
    await terminate(rows[0]?.pid)
    await expect.poll(() => pool.totalCount).toBe(0)
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await pool.end()
  })
})

describe('checkDatabase', () => {
  test('a good one passes, and is known by its name', async () => {
    const pool = openDatabase(database.url, { applicationName: 'worker' })
    await checkDatabase(pool)
    const { rows } = await pool.query(`select current_setting('application_name') as name`)
    expect(rows).toEqual([{ name: expect.stringMatching(/^collab-sync worker [0-9a-f]{8}$/) }])
    await pool.end()
  })

  test('a database that is not in UTF8 is refused', async () => {
    const name = `${new URL(database.url).pathname.slice(1)}_latin`
    await onServer((server) =>
      server.query(`create database ${name} template template0 encoding latin1 locale 'C'`),
    )
    const pool = openDatabase(urlWith(database.url, { database: name }))
    await expect(checkDatabase(pool)).rejects.toThrow(/has the encoding LATIN1; .* UTF8/)
    await pool.end()
    await onServer((server) => server.query(`drop database ${name} with (force)`))
  })
})

async function add(client: Client, name: string, by: number): Promise<number | undefined> {
  const { rows } = await client.query<{ value: number }>(
    'update counters set value = value + $2 where name = $1 returning value',
    [name, by],
  )
  return rows[0]?.value
}

async function valueOf(name: string, pool: Database = database.pool): Promise<number> {
  const { rows } = await pool.query<{ value: number }>(
    'select value from counters where name = $1',
    [name],
  )
  return rows[0]?.value ?? NaN
}

async function terminate(pid: number | undefined): Promise<void> {
  await onServer((server) => server.query('select pg_terminate_backend($1)', [pid]))
}
