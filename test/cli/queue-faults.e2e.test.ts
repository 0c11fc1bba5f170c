import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { openOwnRedis } from '../helpers/own-redis.ts'
import type { OwnRedis } from '../helpers/own-redis.ts'
import { redisUrl } from '../helpers/redis.ts'
import { startRelay } from '../helpers/relay.ts'
import { freePort } from '../helpers/servers.ts'
import { until } from '../helpers/until.ts'
import { openFaultServer } from '../service/fault-server.ts'
import type { FaultServer } from '../service/fault-server.ts'
import { ANY_SERVICE, buildCommand } from './built-command.ts'
import type { BuiltCommand, Environment } from './built-command.ts'

/** Commands beside a Redis that can be reached and does not do what a worker needs. */

describe.skipIf(!redisUrl())('a Redis that', () => {
  let command: BuiltCommand
  let database: TestDatabase
  let redis: OwnRedis
  let cluster: OwnRedis
  let settings: Environment
  let service: FaultServer

  beforeAll(async () => {
    // By default the port of its bus is 10,000 higher, where outgoing connections have theirs.
    const flags = ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())]
    ;[command, service, database, redis, cluster] = await Promise.all([
      buildCommand(),
      openFaultServer(),
      createTestDatabase(),
      openOwnRedis(),
      openOwnRedis({ flags }),
    ])
    await cluster.command('cluster', 'addslotsrange', '0', '16383')
    // A node that has just started takes no writes for two seconds.
    await until('the cluster takes writes', async () =>
      /cluster_state:ok/.test(await cluster.command('cluster', 'info')),
    )
    settings = {
      ...ANY_SERVICE,
      COLLAB_API_URL: service.url,
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
    }
    await command.run(['catalog', 'add', '--organization', 'acme'], settings)
  })
  afterAll(async () => {
    await Promise.all([redis.close(), cluster.close()])
  })
  beforeEach(async () => {
    await redis.command('config', 'set', 'maxmemory', '0')
    await redis.command('replicaof', 'no', 'one')
  })

  const runs = async () => (await database.pool.query('select run_id from sync.runs')).rows

  test('works passes every check of doctor, which leaves nothing behind', async () => {
    const checked = await command.run(['doctor'], settings)
    expect(checked).toMatchObject({ code: 0, stderr: '' })
    expect(checked.stdout).toMatch(/^ok +writes +a row was written and rolled back$/m)
    expect(checked.stdout).toMatch(/^ok +jobs +a job was added to each queue and removed$/m)
    expect(await redis.command('exists', 'bull:collab-sync-pace')).toBe('1')
    expect(await redis.command('keys', 'bull:*doctor*')).toBe('')
    expect((await database.pool.query('select * from sync.workers')).rows).toEqual([])
  })

  test('is full: doctor says so, and enqueue stores the run and says that it waits', async () => {
    await redis.command('config', 'set', 'maxmemory', '1')
    const checked = await command.run(['doctor'], settings)
    expect(checked.code).toBe(2)
    expect(checked.stdout).toMatch(
      /^fail +jobs +the queue refuses writes: OOM .*\n +fix: Redis is at its maxmemory/m,
    )
    expect(checked.stdout).toMatch(/^ok +service /m)

    const { document } = await command.json(['enqueue'], settings)
    expect(document).toMatchObject({ isNew: true, isDelivered: false })
    const hinted = await command.run(
      ['hint', '--organization', 'acme', '--document', 'd', '--annotation', 'a', '--add'],
      settings,
    )
    expect(hinted).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^The run is stored, but /),
    })
  })

  test('stops responding to doctor, which says so once and ends', async () => {
    const relay = await startRelay(redis.url)
    relay.freezeAt('doctor-')
    const paused = { ...settings, REDIS_URL: `redis://127.0.0.1:${relay.port}` }
    const { code, stdout } = await command.runProcess(['doctor'], paused)
    expect(code).toBe(2)
    expect(stdout).toMatch(/^fail +jobs +no response within 2\.5 s\n +fix: try again in a moment/m)
    expect(stdout).toMatch(/^1 problem, /m)
  })

  test('is a replica: the same', async () => {
    await redis.command('replicaof', '127.0.0.1', new URL(cluster.url).port)
    const checked = await command.run(['doctor'], settings)
    expect(checked.stdout).toMatch(/^fail +jobs .*READONLY.*\n +fix: this Redis is a replica/m)
    const asked = await command.run(['enqueue'], settings)
    expect(asked).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/no longer the primary\)/),
    })
  })

  test('has a user without INFO is enough for every command', async () => {
    await redis.command(
      'acl',
      'setuser',
      'worker',
      'on',
      '>secret',
      '~*',
      '&*',
      '+@all',
      '-@dangerous',
    )
    const url = redis.url.replace('redis://', 'redis://worker:secret@')
    const limited = { ...settings, REDIS_URL: url }
    const checked = await command.run(['doctor'], limited)
    expect(checked).toMatchObject({ code: 0, stderr: '' })
    expect(checked.stdout).toMatch(/^ok +queue +Redis; its user may not call INFO/m)
    expect(await command.run(['run'], limited)).toMatchObject({ stderr: '' })
    expect(await command.run(['enqueue'], limited)).toMatchObject({ code: 0, stderr: '' })
  })

  test('is in cluster mode needs braces in QUEUE_PREFIX, which is said before a run is made', async () => {
    const clustered = { ...settings, REDIS_URL: cluster.url, QUEUE_PREFIX: 'mine' }
    const before = await runs()
    const sentence = /Redis is in cluster mode.*QUEUE_PREFIX=\{mine\}$/m
    const checked = await command.run(['doctor'], clustered)
    expect(checked).toMatchObject({
      code: 2,
      stdout: expect.stringMatching(/^fail +queue +Redis is in cluster mode/m),
    })
    expect(checked.stdout).toContain('QUEUE_PREFIX={mine}')
    for (const name of ['enqueue', 'run', 'worker']) {
      const ended = await command.run([name], clustered)
      expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(sentence) })
    }
    expect(await runs()).toEqual(before)

    const braced = { ...clustered, QUEUE_PREFIX: '{mine}' }
    expect(await command.run(['doctor'], braced)).toMatchObject({ code: 0 })
    expect(await command.run(['enqueue'], braced)).toMatchObject({ code: 0, stderr: '' })
  })
})
