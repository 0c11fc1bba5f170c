import { afterEach, expect, test } from 'vitest'
import { followRun } from '../../src/cli/progress.ts'
import {
  checkDatabase,
  isConnectionLost,
  isDataFault,
} from '../../src/core/database/connection-errors.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { UsageError } from '../../src/base/errors.ts'
import { migrateQueue } from '../../src/core/queue/backend.ts'
import { buildCommand } from '../cli/built-command.ts'
import { createTestDatabase, urlWith } from '../helpers/database.ts'
import { startPooler } from '../helpers/pooler.ts'
import { until } from '../helpers/until.ts'
import { addRun } from './run-rows.ts'

const SERVER_GONE = {
  code: 'XX000',
  message: '(EDBHANDLEREXITED) connection to database closed',
}

let database: Database
const command = await buildCommand()
const direct = await createTestDatabase()
const pooler = await startPooler(direct.url, 'session')
afterEach(async () => {
  await pooler.fail(null)
  await database.end()
})

/** Each try of a connection is refused; when two were, the server takes connections again. */
async function refuseTwice(error: Parameters<typeof pooler.fail>[0]): Promise<void> {
  const before = pooler.refused()
  await pooler.fail(error)
  await until('two tries were refused', () => pooler.refused() >= before + 2)
  await pooler.fail(null)
}

test.each([
  ['a pooler whose server is gone', SERVER_GONE],
  ['a pooler that has no room', { code: '08P01', message: 'no more connections allowed' }],
  ['a full server', { code: '53300', message: 'sorry, too many clients already' }],
])('%s is waited for when a connection is opened', async (_, error) => {
  database = openDatabase(pooler.url)
  const refusing = refuseTwice(error)
  await Promise.all([checkDatabase(database), refusing])
})

test('doctor gives the reason of a full server, and not only that it waited for it', async () => {
  database = openDatabase(direct.url)
  await pooler.fail({ code: '53300', message: 'sorry, too many clients already' })
  const { stdout } = await command.run(['doctor'], { DATABASE_URL: pooler.url })
  expect(stdout).toMatch(/fail +PostgreSQL .*: it has no connection left\./)
})

test.each([
  ['28P01', 'the user or the password'],
  ['28000', 'the user in DATABASE_URL'],
  ['3D000', 'there is no such database'],
  ['42501', 'may not connect'],
])('%s is not waited for at the start: it is a wrong setting', async (code, sentence) => {
  database = openDatabase(pooler.url)
  const before = pooler.refused()
  await pooler.fail({ code, message: 'no' })
  const failed = checkDatabase(database)
  await expect(failed).rejects.toThrow(UsageError)
  await expect(failed).rejects.toThrow(sentence)
  expect(pooler.refused()).toBe(before + 1)
})

test('the same for the database of the queue, by its own setting', async () => {
  database = openDatabase(direct.url)
  const url = urlWith(direct.url, { database: 'cs_nowhere' })
  const failed = migrateQueue({ kind: 'postgres', url })
  await expect(failed).rejects.toThrow(UsageError)
  await expect(failed).rejects.toThrow(/there is no such database\. .* QUEUE_DATABASE_URL\.$/)
})

test('a password that is rotated in mid-run is waited for', async () => {
  database = openDatabase(pooler.url)
  await checkDatabase(database)
  const cut = refuseTwice({ code: '28P01', message: 'password authentication failed' })
  await until('the connection is gone', () => database.totalCount === 0)
  await checkDatabase(database)
  await cut
})

test('a connection more is opened only where callers wait', async () => {
  database = openDatabase(direct.url, { max: 20 })
  await Promise.all(Array.from({ length: 20 }, () => database.query('select 1')))
  expect(database.totalCount).toBeLessThan(20)
})

test('callers get all connections of a pool while each is in use', async () => {
  database = openDatabase(direct.url, { max: 3 })
  const clients = await Promise.all([1, 2, 3].map(() => database.connect()))
  expect(database.totalCount).toBe(3)
  for (const client of clients) client.release()
})

test('any error of opening a connection is a lost connection, in the language of the server', async () => {
  database = openDatabase(pooler.url)
  await pooler.fail({ code: '42501', message: 'доступ запрещён', severity: 'ВАЖНО' })
  const error: unknown = await database.query('select 1').catch((failure: unknown) => failure)
  expect(error).toMatchObject({ code: '42501' })
  expect([isConnectionLost(error), isDataFault(error)]).toEqual([true, false])
})

test('an open connection that a pooler ends is a lost connection; the same code of a statement is not', async () => {
  database = openDatabase(pooler.url)
  const lock = await direct.pool.connect()
  await lock.query('select pg_advisory_lock(1)')
  const waiting = database.query('select pg_advisory_lock(1)').catch((failure: unknown) => failure)
  await until('the statement runs', async () => {
    const { rowCount } = await direct.pool.query(
      `select from pg_locks where locktype = 'advisory' and not granted and objid = 1`,
    )
    return rowCount === 1
  })
  const failing = pooler.fail(SERVER_GONE)
  const error = await waiting
  lock.release(true)
  await failing
  expect(error).toMatchObject({ code: 'XX000' })
  expect([isConnectionLost(error), isDataFault(error)]).toEqual([true, false])
  await pooler.fail(null)
  const own: unknown = await database
    .query(`do $$ begin raise exception 'internal' using errcode = 'XX000'; end $$`)
    .catch((failure: unknown) => failure)
  expect([isConnectionLost(own), isDataFault(own)]).toEqual([false, true])
})

test('a run is followed to its end through the failures of a pooler', async () => {
  database = openDatabase(pooler.url)
  const runId = await addRun(direct.pool)
  const followed = followRun(database, runId, { style: 'none' })
  await until('it is read', () => database.totalCount === 1)
  await refuseTwice(SERVER_GONE)
  await direct.pool.query(
    `update sync.runs set status = 'succeeded', finished_at = now() where run_id = $1`,
    [runId],
  )
  expect(await followed).toMatchObject({ runId, status: 'succeeded' })
})
