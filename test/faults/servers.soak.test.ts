import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { migrateQueue } from '../../src/core/queue/backend.ts'
import { openTestDatabase } from '../helpers/database.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import type { QueueKind } from '../helpers/live.ts'
import { redisUrl } from '../helpers/redis.ts'
import { until } from '../helpers/until.ts'
import { callsNeeded, openRig } from './rig.ts'
import type { Rig } from './rig.ts'
import { openOwnRedis } from '../helpers/own-redis.ts'
import type { OwnRedis } from '../helpers/own-redis.ts'
import { startRelay } from '../helpers/relay.ts'
import type { Relay } from '../helpers/relay.ts'
import { openOwnPostgres } from './servers.ts'
import type { OwnPostgres } from './servers.ts'

const WORLD = { organizations: 10, documentsPerOrganization: 3, annotationsPerDocument: 12 }

let postgres: OwnPostgres
let redis: OwnRedis
let standby: OwnRedis
let relay: Relay
let rig: Rig

beforeAll(async () => {
  postgres = await openOwnPostgres()
  await migrate(postgres.url)
  await migrateQueue({ kind: 'postgres', url: postgres.url })
  if (redisUrl() === undefined) return
  redis = await openOwnRedis()
  standby = await openOwnRedis()
  relay = await startRelay(redis.url)
})
afterAll(async () => {
  await standby?.close()
  await redis?.close()
})

/** What happens to the servers once a third of the calls is made; all is back when it resolves. */
type Calamity = () => Promise<void>

const beReplica = (of: OwnRedis) => ['replicaof', '127.0.0.1', new URL(of.url).port] as const

const problemOf = async () => (await rig.rows('select problem from sync.workers'))[0]?.problem

const calamities: [what: string, calamity: Calamity][] = [
  ['Redis is flushed', async () => void (await redis.command('flushall'))],
  [
    'Redis is killed and comes back empty',
    async () => {
      await redis.kill()
      await sleep(2000)
      await redis.start()
    },
  ],
  [
    'Redis becomes a replica of the one that was its own',
    async () => {
      await standby.command('replicaof', 'no', 'one')
      await redis.command(...beReplica(standby))
      relay.leadTo(standby.url)
    },
  ],
  [
    'Redis is full for a while',
    async () => {
      const both = [redis, standby]
      for (const each of both) await each.command('config', 'set', 'maxmemory', '1')
      await until('the worker reports it', async () => /OOM/.test((await problemOf()) ?? ''))
      for (const each of both) await each.command('config', 'set', 'maxmemory', '0')
      await until('the worker has no problem', async () => (await problemOf()) === null)
    },
  ],
  [
    'PostgreSQL is killed and comes back',
    async () => {
      await postgres.kill()
      await sleep(1000)
      await postgres.start()
    },
  ],
  [
    'both are away for a while, and Redis comes back empty',
    async () => {
      await Promise.all([redis.kill(), postgres.kill()])
      await sleep(12_000)
      await Promise.all([redis.start(), postgres.start()])
    },
  ],
]

describe.skipIf(redisUrl() === undefined)('with the queue on Redis', () => {
  test.each(calamities)(
    '%s in mid-run, and the run goes on by itself to the same end',
    async (_what, calamity) => {
      await redis.command('replicaof', 'no', 'one')
      await standby.command(...beReplica(redis))
      relay.leadTo(redis.url)
      await expectSameEnd('redis', calamity, { REDIS_URL: `redis://127.0.0.1:${relay.port}` })
    },
    120_000,
  )
})

describe('with the queue on PostgreSQL', () => {
  test('PostgreSQL is killed and away for a while in mid-run, and the run goes on by itself to the same end', async () => {
    await expectSameEnd('postgres', async () => {
      await postgres.kill()
      await sleep(8000)
      await postgres.start()
    })
  }, 300_000)
})

async function expectSameEnd(
  queue: QueueKind,
  calamity: Calamity,
  settings: Record<string, string> = {},
): Promise<void> {
  const database = openTestDatabase(postgres.url)
  // Slow enough that the run outlasts the calamity: a worker that stops while BullMQ reconnects needs its deadline.
  rig = await openRig(queue, { database, world: WORLD, standIn: { latencyMs: 400 }, settings })
  const needed = callsNeeded(rig.world)
  const runId = await rig.startRun()
  const worker = await rig.start()
  await rig.callsReach(Math.round(needed / 3))
  await calamity()
  const run = await rig.settled(runId, 180_000)
  expect(run).toMatchObject({ status: 'succeeded', scopes_planned: needed })
  await expectTablesEqual(rig.database, rig.world)
  expect(rig.standIn.calls.total).toBeLessThan(1.6 * needed)
  expect(await worker.stop()).toBe(0)
}
