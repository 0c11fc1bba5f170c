import { afterAll, beforeAll, expect, test } from 'vitest'
import { SharedCollabSync } from '../../src/client/collab-sync.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { createServer } from '../../src/http/server.ts'
import type { HttpServer } from '../../src/http/server.ts'
import { openQueueLate } from '../../src/http/start-http.ts'
import type { LateQueue } from '../../src/http/start-http.ts'
import { createLog } from '../../src/base/log.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { createEmptyDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'
import { BEARER, TOKEN } from './served.ts'

let empty: TestDatabase
let queue: LateQueue
let server: HttpServer

beforeAll(async () => {
  empty = await createEmptyDatabase()
  const environment = { DATABASE_URL: empty.url, HTTP_TOKEN: TOKEN }
  const settings = readSettings(environment, {
    need: ['database', 'queue', 'http'],
    directory: '/nonexistent',
  })
  const log = createLog('silent')
  const database = empty.pool
  queue = openQueueLate({ kind: 'postgres', url: empty.url }, log)
  const collabSync = new SharedCollabSync({
    database,
    queue,
    settings,
    log,
    by: 'a test',
    trigger: 'http',
  })
  server = await createServer({ settings, store: { database }, queue, collabSync, log })
})
afterAll(async () => {
  await server?.app.close()
  await queue?.close()
  await empty?.drop()
})

test('without tables the probe, the API and the pages say what to run, and all is well once it was', async () => {
  const sentence = 'The tables are not of this version of collab-sync: run `collab-sync migrate`.'
  const ready = async () => (await server.app.inject('/readyz')).json()
  await until('the queue is ready', async () => (await ready()).queue === 'ready')
  expect(await ready()).toEqual({ status: 'not ready', postgresql: sentence, queue: 'ready' })
  expect((await server.app.inject('/healthz')).statusCode).toBe(200)
  for (const url of ['/v1/runs', '/v1/freshness', '/v1/schedule']) {
    const answer = await server.app.inject({ url, headers: BEARER })
    expect(answer.statusCode, url).toBe(503)
    expect(answer.json()).toMatchObject({ detail: sentence, away: ['postgresql'] })
  }
  const page = await server.app.inject({ url: '/', headers: { ...BEARER, accept: 'text/html' } })
  expect(page.statusCode).toBe(503)
  expect(page.body).toContain('collab-sync migrate')

  await migrate(empty.url)
  await until('all is ready', async () => (await ready()).status === 'ready')
  expect(await ready()).toEqual({ status: 'ready', postgresql: 'ready', queue: 'ready' })
  for (const url of ['/v1/runs', '/'])
    expect((await server.app.inject({ url, headers: BEARER })).statusCode, url).toBe(200)
})

test('the probes name no place and no password to whoever asks', async () => {
  const { body } = await server.app.inject('/readyz')
  const { hostname, port, pathname } = new URL(empty.url)
  for (const secret of [hostname, port, pathname.slice(1)]) expect(body).not.toContain(secret)
})
