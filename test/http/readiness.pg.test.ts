import { expect, test } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { createEmptyDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'
import { BEARER, latePartsOf, unlistenedOn } from './served.ts'

const empty = await createEmptyDatabase()
const parts = latePartsOf(empty.pool, empty.url, { kind: 'postgres', url: empty.url })
closedAtEnd(() => parts.queue.close())
const server = await unlistenedOn(parts)

test('without tables the probe, the API and the pages say what to run, and all is well once it was', async () => {
  const sentence = 'The database has no tables of collab-sync yet. Run `collab-sync migrate`.'
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
