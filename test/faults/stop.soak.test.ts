import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand, Environment, Running } from '../cli/built-command.ts'
import { createTestDatabase, urlWith } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { randomPrefix, redisUrl } from '../helpers/redis.ts'
import { startRelay } from '../helpers/relay.ts'
import type { Relay } from '../helpers/relay.ts'
import { until } from '../helpers/until.ts'

/** A process that is asked to stop ends before Docker kills it, also when a server is gone or does not respond. */

const DOCKER_KILLS_AFTER_MS = 10_000
const TOO_LATE = /did not stop within 8 s, so the process exits now/

let command: BuiltCommand
let database: TestDatabase
let postgres: Relay
let redis: Relay
let settings: Environment
beforeAll(async () => {
  command = await buildCommand()
})
afterEach(async () => {
  postgres?.cut()
  redis?.cut()
})

async function open(): Promise<void> {
  database = await createTestDatabase()
  postgres = await startRelay(database.url)
  const redisAt = new URL(redisUrl() ?? '')
  redis = await startRelay(redisAt.href)
  redisAt.port = `${redis.port}`
  settings = {
    DATABASE_URL: urlWith(database.url, { port: postgres.port }),
    REDIS_URL: redisAt.href,
    QUEUE_PREFIX: randomPrefix(),
    COLLAB_API_URL: 'http://127.0.0.1:9',
    COLLAB_API_KEY: 'any-key',
    COLLAB_AUTH_TOKEN: 'any-token',
    HTTP_PORT: '0',
  }
}

const FAULTS: [what: string, fault: () => void][] = [
  ['Redis is gone', () => redis.cut()],
  ['Redis is frozen', () => redis.freeze()],
  ['PostgreSQL is gone', () => postgres.cut()],
  ['PostgreSQL is frozen', () => postgres.freeze()],
]

describe.skipIf(redisUrl() === undefined)('on Redis', () => {
  describe.each([
    ['worker', /"msg":"working"/],
    ['serve', /"msg":"serving"/],
  ])('an idle %s stops with 0 while', (name, ready) => {
    test.each(FAULTS)('%s', async (_what, fault) => {
      await open()
      const running = command.start([name], settings)
      await running.shows(ready)
      fault()
      const { code, stderr } = await stopped(running)
      expect({ code, stderr }).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/"msg":"(stopped|did not stop within 8 s.*)"\}\n$/),
      })
    })
  })

  test('a worker that has work in progress says what it abandons, and stops with 1', async () => {
    await open()
    await command.run(['catalog', 'add', '--organization', 'acme'], settings)
    await command.run(['enqueue'], settings)
    const locks = await database.pool.connect()
    await locks.query('begin; lock table sync.run_items')
    const running = command.start(['worker'], settings)
    await until('a job waits for the lock', async () => {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length > 0
    })
    postgres.freeze()
    const { code, stderr } = await stopped(running)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(TOO_LATE) })
    await locks.query('rollback')
    locks.release()
    const { inProgress } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')
    expect(inProgress).toEqual([
      { job: 'page-organizations', runId: expect.any(String), itemId: expect.any(Number) },
    ])
  })

  test.each(FAULTS.filter(([what]) => /frozen/.test(what)))(
    'a run ends with 1 while %s',
    async (_what, fault) => {
      await open()
      await command.run(['catalog', 'add', '--organization', 'acme'], settings)
      const running = command.start(['run'], settings)
      await running.shows(/^running: /m)
      fault()
      const { code, stderr } = await stopped(running)
      expect({ code, stderr }).toMatchObject({ code: 1 })
    },
  )
})

async function stopped({ child, ended }: Running) {
  const sentAtMs = performance.now()
  child.kill('SIGTERM')
  const end = await ended
  expect(performance.now() - sentAtMs).toBeLessThan(DOCKER_KILLS_AFTER_MS)
  return end
}
