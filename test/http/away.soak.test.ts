import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import { startHttp } from '../../src/http/start-http.ts'
import type { QueuePlace } from '../../src/core/queue/backend.ts'
import { openOwnRedis } from '../helpers/own-redis.ts'
import type { OwnRedis } from '../helpers/own-redis.ts'
import { openOwnPostgres } from '../faults/servers.ts'
import type { OwnPostgres } from '../faults/servers.ts'
import { redisUrl } from '../helpers/redis.ts'
import { until } from '../helpers/until.ts'
import { BEARER, latePartsOf } from './served.ts'

let postgres: OwnPostgres
let redis: OwnRedis | null

beforeAll(async () => {
  postgres = await openOwnPostgres()
  await migrate(postgres.url)
  const database = openDatabase(postgres.url)
  await importCatalog(database, ONE_ORGANIZATION, { prune: false })
  await database.end()
  redis = redisUrl() === undefined ? null : await openOwnRedis()
})
afterAll(() => redis?.close())

const ONE_ORGANIZATION = listSource('test', [{ organizationId: 'acme' }])

/** The HTTP side as `serve` opens it, on the test's own servers. */
async function open(queuePlace: QueuePlace) {
  const database = openDatabase(postgres.url)
  const parts = latePartsOf(database, postgres.url, queuePlace)
  const http = await startHttp(parts)
  return {
    async ask(path: string, init: RequestInit = {}) {
      const headers = { ...BEARER, ...(init.headers as Record<string, string>) }
      return fetch(http.url + path, { ...init, headers })
    },
    async close() {
      await http.stop()
      await parts.queue.close()
      await database.end()
    },
  }
}

type Served = Awaited<ReturnType<typeof open>>

const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
const PAGES = ['/', '/runs', '/organizations', '/held', '/schedule']

async function readiness({ ask }: Served) {
  const answer = await ask('/readyz')
  return { status: answer.status, ...((await answer.json()) as object) }
}

/** Looks until the probe says so: it looks at most once a second. */
async function untilReady(served: Served, wanted: object) {
  await until(`/readyz says ${JSON.stringify(wanted)}`, async () => {
    const found = await readiness(served)
    return JSON.stringify({ ...found, ...wanted }) === JSON.stringify(found) ? true : null
  })
}

const READY = { status: 'ready', postgresql: 'ready', queue: 'ready' }

async function expectAllWell(served: Served) {
  await untilReady(served, READY)
  const answer = await served.ask('/v1/runs', post)
  expect(answer.status).toBe(202)
  expect(await answer.json()).toMatchObject({ isNew: true, isDelivered: true })
  for (const page of [...PAGES, '/queues', '/queues/api/queues', '/metrics'])
    expect((await served.ask(page)).status, page).toBe(200)
}

async function expectDatabaseAway(served: Served) {
  expect((await served.ask('/healthz')).status).toBe(200)
  await untilReady(served, {
    postgresql: 'PostgreSQL does not respond, or refuses the connection.',
  })
  expect((await served.ask('/readyz')).status).toBe(503)
  for (const [path, init] of [
    ['/v1/runs', {}],
    ['/v1/runs', post],
    ['/v1/freshness', {}],
    ['/v1/schedule', {}],
  ] as const) {
    const answer = await served.ask(path, init)
    expect(answer.status, path).toBe(503)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await answer.json()).toMatchObject({
      detail: expect.stringContaining('PostgreSQL does not respond'),
      away: expect.arrayContaining(['postgresql']),
    })
  }
  for (const page of PAGES) {
    const answer = await served.ask(page, { headers: { accept: 'text/html' } })
    expect(answer.status, page).toBe(503)
    expect(await answer.text(), page).toMatch(/PostgreSQL/)
  }
}

describe('with the queue on Redis', () => {
  test.skipIf(!redisUrl())(
    'it serves with Redis and PostgreSQL away from the start, and all is well once they are back, again and again',
    async () => {
      if (redis === null) throw new Error('no Redis')
      const place = { kind: 'redis', url: redis.url, prefix: 'away' } as const
      await postgres.kill()
      await redis.kill()
      const served = await open(place)
      try {
        await expectDatabaseAway(served)
        expect(await readiness(served)).toMatchObject({
          status: 'not ready',
          queue: 'The queue in Redis does not respond, or refuses the connection.',
        })
        await postgres.start()
        await redis.start()
        await expectAllWell(served)

        await redis.kill()
        await untilReady(served, {
          queue: 'The queue in Redis does not respond, or refuses the connection.',
          postgresql: 'ready',
        })
        expect((await served.ask('/readyz')).status).toBe(503)
        expect((await served.ask('/healthz')).status).toBe(200)
        for (const page of PAGES) expect((await served.ask(page)).status, page).toBe(200)
        const taken = await served.ask('/v1/runs', post)
        expect([taken.status, await taken.json()]).toMatchObject([202, { isDelivered: false }])
        await redis.start()
        await expectAllWell(served)

        await postgres.kill()
        await expectDatabaseAway(served)
        await postgres.start()
        await expectAllWell(served)
      } finally {
        await served.close()
      }
    },
  )
})

describe('with the queue in PostgreSQL', () => {
  test('it serves with PostgreSQL away from the start, and all is well once it is back, again and again', async () => {
    const place = { kind: 'postgres', url: postgres.url } as const
    await postgres.kill()
    const served = await open(place)
    try {
      for (const _ of ['from the start', 'later']) {
        await expectDatabaseAway(served)
        await postgres.start()
        await expectAllWell(served)
        await postgres.kill()
      }
    } finally {
      await postgres.start()
      await served.close()
    }
  })
})
