import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createTestDatabase } from '../helpers/database.ts'
import { dumpTables } from '../helpers/dump-tables.ts'
import { randomPrefix, redisUrl } from '../helpers/redis.ts'
import { buildCommand } from './built-command.ts'
import type { Environment, StandInProcess } from './built-command.ts'

const command = await buildCommand()
const database = await createTestDatabase()
const catalog = join(command.directory, 'catalog.ndjson')
const world = ['--organizations', '2', '--documents', '3', '--annotations', '8', '--no-skew']
const standIn: StandInProcess = await command.startStandIn(...world, '--catalog', catalog)
const redis = redisUrl()
// The queue is no part of what is tested; on Redis a run costs half.
const queue = redis === undefined ? {} : { REDIS_URL: redis, QUEUE_PREFIX: randomPrefix() }
const settings: Environment = {
  ...standIn.environment,
  ...queue,
  DATABASE_URL: database.url,
  SYNC_RETRIES: '1',
}
expect(await command.run(['catalog', 'import', catalog], settings)).toMatchObject({ code: 0 })
expect(await command.run(['run'], settings)).toMatchObject({ code: 0 })
afterEach(() => standIn.control({ faults: [], authToken: 'demo-auth-token' }))

test('a dry run prints a line for each scope that would change and the totals, and changes nothing', async () => {
  await standIn.control({ changes: { count: 2, seed: 1, kinds: ['addComment'] } })
  const before = await dumpTables(database)
  const { code, stdout } = await command.run(['run', '--dry-run'], settings)
  expect(code).toBe(0)
  expect(stdout.match(/^.+ \(comments\): 1 added$/gm)).toHaveLength(2)
  expect(stdout).toMatch(/changes +2 added$/m)
  const { document } = await command.json(['run', '--dry-run'], settings)
  expect(document.total).toMatchObject({ added: 2, changed: 0, removed: 0, failed: 0 })
  expect(document.scopes).toHaveLength(2)
  expect(document.scopes[0]).toMatchObject({ operation: 'comments', added: 1, failure: null })
  expect(await dumpTables(database)).toEqual(before)
  expect(await command.run(['run'], settings)).toMatchObject({ code: 0 })
  const nothing = await command.json(['run', '--dry-run'], settings)
  expect(nothing.document).toMatchObject({ scopes: [], total: { added: 0 } })
  const words = await command.run(['run', '--dry-run'], settings)
  expect(words.stdout).toMatch(/^ +changes +none$/m)
})

test('a dry run of what would be held or fail ends with exit code 3', async () => {
  await standIn.control({ faults: [{ kind: 'empty-list', match: { operation: 'users' } }] })
  const { code, stdout } = await command.run(['run', '--dry-run'], settings)
  expect(code).toBe(3)
  expect(stdout).toMatch(/\(users\): \d+ removals? held$/m)
})

test('verify ends with 0 where the only extra users are those whose removal is held', async () => {
  await standIn.control({ faults: [{ kind: 'empty-list', match: { operation: 'users' } }] })
  expect(await command.run(['run'], settings)).toMatchObject({ code: 3 })
  const { code, stdout } = await command.run(['verify', '--sample', '100000'], settings)
  expect(stdout).toMatch(/: user .+ is in the tables and not in the service \(removal held\)$/m)
  expect(stdout).toMatch(/differing +0 \(error rate 0\.0000 %\)$/m)
  expect(stdout).toMatch(/removal held +\d+ records$/m)
  expect(code).toBe(0)
  await standIn.control({ faults: [] })
  expect(await command.run(['run'], settings)).toMatchObject({ code: 0 })
})

test('verify ends with 0 where all is equal and with 1 where something differs', async () => {
  expect(await command.json(['verify', '--sample', '100000'], settings)).toMatchObject({
    code: 0,
    document: { differing: 0, failed: 0, errorRate: 0 },
  })
  await database.pool.query(
    `update collab_store.users set name = 'somebody else', source = 3
    where (organization_key, user_id) in (
      select organization_key, user_id from collab_store.users where listed order by 1, 2 limit 1)`,
  )
  const differing = await command.run(['verify', '--sample', '100000'], settings)
  expect(differing.code).toBe(1)
  expect(differing.stdout).toMatch(/: user .+ differs in name$/m)
  expect(differing.stdout).toMatch(/differing +1 \(error rate 0\.\d+ %\)$/m)
})

test('verify refuses what is not in the catalog, and what could not be asked ends with 3', async () => {
  const unknown = await command.run(['verify', '--organization', 'nobody'], settings)
  expect(unknown.code).toBe(2)
  expect(unknown.stderr).toContain('"nobody" is not in the catalog')
  await standIn.control({ faults: [{ kind: 'forbidden' }] })
  const failed = await command.run(['verify', '--sample', '2'], settings)
  expect(failed.code).toBe(3)
  expect(failed.stdout).toMatch(/not compared +2 scopes$/m)
})

test('doctor and status report open problems', async () => {
  await database.pool.query(
    `insert into sync.workers (worker_id, started_at, heartbeat_at, calls_in_flight, calls_limit, rate_limit, settings)
     values ('host:1:slow', now(), now(), 0, 8, 50, '{"SYNC_RATE_LIMIT": 50}'),
       ('host:2:free', now(), now(), 0, 8, null, '{"SYNC_RATE_LIMIT": null}')`,
  )
  for (const name of ['status', 'doctor'])
    expect((await command.run([name], settings)).stdout).toContain(
      'Workers have different settings: SYNC_RATE_LIMIT.',
    )
  await database.pool.query(
    `update sync.refresh_state set paused_since = now(), paused_until = now(), reason = 'The token is refused.'`,
  )
  expect((await command.run(['doctor'], settings)).stdout).toMatch(
    /^warn +refresh paused +Continuous refresh is paused\. The token is refused\.$/m,
  )
  await database.pool.query(
    `update sync.refresh_state set paused_since = null, paused_until = null, reason = null;
    delete from sync.workers`,
  )
})

test('status names a worker that is frozen inside a transaction', async () => {
  const session = await database.pool.connect()
  try {
    await session.query(`set application_name = 'collab-sync frozen'`)
    await session.query('begin; select 1')
    await database.pool.query(
      `insert into sync.workers (worker_id, application_name, started_at, heartbeat_at, calls_in_flight, calls_limit)
       values ('host:3:frozen', 'collab-sync frozen', now(), now() - interval '1 minute', 0, 8)`,
    )
    expect((await command.run(['status'], settings)).stdout).toContain(
      'host:3:frozen has no heartbeat and an open transaction',
    )
  } finally {
    session.release(true)
    await database.pool.query('delete from sync.workers')
  }
})

test('refused credentials end a run, verify and a dry run with exit code 1 and no secret', async () => {
  await standIn.control({ authToken: 'a-newer-token' })
  for (const args of [['verify'], ['run'], ['run', '--dry-run']]) {
    const { code, stdout, stderr } = await command.run(args, settings)
    expect(code).toBe(1)
    expect(stdout + stderr).toContain('401')
    expect(stdout + stderr).not.toContain(settings['COLLAB_AUTH_TOKEN'])
  }
  const [{ runId }] = (await command.json(['status'], settings)).document.runs
  const reason = `Run ${runId} was stopped before it fetched all scopes, so that the scopes it left out are not recorded as failed. Find out why with: collab-sync status ${runId.slice(0, 8)}. Then sync them with: collab-sync run`
  const retries = [['--failing'], ['--failed-of', runId], ['--failing', '--dry-run']]
  for (const retry of retries)
    expect(await command.run(['run', ...retry], settings)).toMatchObject({
      code: 1,
      stdout: `${reason}\n`,
    })
  expect(await command.json(['enqueue', '--failing'], settings)).toEqual({
    code: 1,
    document: { runId: null, reason },
  })
  await standIn.control({ authToken: 'demo-auth-token' })
  expect(await command.run(['run'], settings)).toMatchObject({ code: 0 })
  for (const retry of retries)
    expect(await command.run(['run', ...retry], settings)).toMatchObject({ code: 0 })
})

test('a run that lost whole records ends with 3 until they are set aside, and verify with 1', async () => {
  await database.pool.query('truncate sync.rejected_records')
  // An earlier test wrote into the first organization.
  const { rows } = await database.pool.query(
    'select organization_id from collab_store.organizations order by organization_key desc limit 1',
  )
  const all = ['--organization', rows[0].organization_id]
  await standIn.control({ faults: [{ kind: 'poison', poison: 'big-id', times: 100000 }] })
  const lost = await command.run(['run'], settings)
  expect(lost.code).toBe(3)
  expect(lost.stdout).toMatch(/The run rejected \d+ records that were not set aside \(mostly: /)
  expect(await command.run(['run', '--dry-run'], settings)).toMatchObject({ code: 3 })
  const verified = await command.run(['verify', ...all], settings)
  expect(verified.code).toBe(1)
  expect(verified.stdout).toMatch(/: comment record cannot be stored: commentId is no integer /)

  const newest = async () =>
    (await command.json(['rejected', '--limit', '1'], settings)).document[0]
  const id = String((await newest()).rejectedRecordId)
  const one = await command.run(['rejected', 'set-aside', id, '--reason', 'known'], settings)
  expect(one).toMatchObject({ code: 0, stdout: '1 record set aside.\n' })
  expect(await command.runProcess(['run'], settings)).toMatchObject({ code: 3 })
  // The run that last saw them.
  const { runId } = await newest()
  const rest = ['rejected', 'set-aside', '--run', runId, '--reason', 'known']
  expect((await command.json(rest, settings)).document.changed).toBeGreaterThan(1)
  expect(await command.run(['run'], settings)).toMatchObject({ code: 0 })
  expect(await command.run(['run', '--dry-run'], settings)).toMatchObject({ code: 0 })
  const known = await command.run(['verify', ...all], settings)
  expect(known.stdout).toMatch(/\(set aside\)$/m)
  expect(known.stdout).toMatch(/differing +0 /)
  expect(known.code).toBe(0)

  expect((await command.run(['rejected'], settings)).stdout).toBe('No rejected record is open.\n')
  const aside = await command.run(['rejected', 'list', '--set-aside'], settings)
  expect(aside.stdout).toMatch(/ record, set aside /)
  expect(await command.run(['rejected', 'restore', id], settings)).toMatchObject({ code: 0 })
  expect(await command.run(['run'], settings)).toMatchObject({ code: 3 })
})
