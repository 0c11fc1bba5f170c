import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { App } from '../../src/worker/app.ts'
import { bullBoard } from '../../src/http/bull-board.ts'
import { openReadiness } from '../../src/http/probes.ts'
import { openQueueLate } from '../../src/http/start-http.ts'
import { createLog } from '../../src/base/log.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { startRun } from '../../src/core/run/start.ts'
import { QUEUE_KINDS, isMissing, openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { randomPrefix } from '../helpers/redis.ts'

describe.each(QUEUE_KINDS)('Bull Board with the queue on %s', (kind) => {
  let live: Live
  let app: App
  let server: FastifyInstance

  beforeEach(async (context) => {
    if (isMissing(kind)) return context.skip()
    live = await openLoaded(kind)
    app = await live.openApp()
    server = Fastify()
    await server.register(bullBoard, {
      prefix: '/inside/queues',
      queue: app.queue,
      readiness: async () => ({ postgresql: null, queue: null }),
    })
  })
  afterEach(async () => {
    await server?.close()
  })

  test('its page loads nothing from elsewhere and holds no script or style that its policy forbids', async () => {
    for (const path of ['/inside/queues', '/inside/queues/', '/inside/queues/queue/collab-sync']) {
      const { statusCode, body } = await server.inject(path)
      expect(statusCode).toBe(200)
      expect(body).toContain('<base href="/inside/queues/" />')
      expect(body).not.toMatch(/https?:|<style| style=|<script(?![^>]*(src=|application\/json))/)
      for (const [, asset] of body.matchAll(/(?:src|href)="(static\/[^"]+)"/g)) {
        expect((await server.inject(`/inside/queues/${asset}`)).statusCode).toBe(200)
      }
    }
  })

  test('it lists the queue and its jobs by their ids, and no secret is in what it tells', async () => {
    const run = { trigger: 'cli', scope: {}, requestKey: null } as const
    const { runId, items } = await startRun(app.sync, run)
    await app.deliver(items)
    await app.queue.bull.requests.add(
      'start-run',
      { scope: {}, password: 'hunter2' },
      { jobId: 'foreign' },
    )
    const lists = await Promise.all(
      ['collab-sync', 'collab-sync-everything'].map((name) =>
        server.inject(
          `/inside/queues/api/queues?activeQueue=${name}&status=latest&page=1&jobsPerPage=10`,
        ),
      ),
    )
    const [requests, everything] = lists.map((list) => list.json().queues)
    const isReadOnly = { type: 'bullmq', readOnlyMode: true }
    expect(requests).toMatchObject([
      { name: 'collab-sync', ...isReadOnly, jobs: [{ data: { scope: {} } }] },
      { name: 'collab-sync-everything', ...isReadOnly },
    ])
    expect(everything[1].jobs).toMatchObject([{ data: { runId, itemId: items[0]?.itemId } }])
    const foreign = await server.inject('/inside/queues/api/queues/collab-sync/foreign')
    expect(foreign.json().job).toMatchObject({ name: 'start-run', data: { scope: {} } })
    const told = [...lists, foreign].map(({ body }) => body).join('')
    const { standIn, database } = live
    const secrets = [standIn.apiKey, standIn.authToken, database.url, 'hunter2', 'redis://']
    expect(secrets.filter((secret) => told.includes(secret))).toEqual([])
  })

  test('nothing that changes the queue is there to be asked', async () => {
    await app.queue.bull.requests.add('start-run', {}, { jobId: 'stays' })
    const changing = [
      ['PUT', 'queues/pause'],
      ['PUT', 'queues/collab-sync/pause'],
      ['PUT', 'queues/collab-sync/empty'],
      ['PUT', 'queues/collab-sync/obliterate'],
      ['PUT', 'queues/collab-sync/stays/clean'],
      ['POST', 'queues/collab-sync/add'],
      ['PATCH', 'queues/collab-sync/stays/update-data'],
    ] as const
    for (const [method, path] of changing) {
      const url = `/inside/queues/api/${path}`
      const answer = await server.inject({ method, url, payload: { name: 'x', data: {} } })
      expect([path, answer.statusCode]).toEqual([path, 404])
    }
    expect(await app.queue.bull.requests.isPaused()).toBe(false)
    expect(await app.queue.bull.requests.getJob('stays')).toBeDefined()
  })
})

test('while the queue is not open yet, and without Bull Board, the server around it answers', async () => {
  const place = { kind: 'redis', url: 'redis://127.0.0.1:1', prefix: randomPrefix() } as const
  const queue = openQueueLate(place, createLog('silent'))
  const outer = Fastify()
  outer.setErrorHandler((error, _request, reply) => reply.status(503).send(String(error)))
  const settings = readSettings({}, { need: [], directory: '/nonexistent' })
  const database = openDatabase('postgres://127.0.0.1:1/none')
  const readiness = openReadiness({ database, settings, queue, log: createLog('silent') })
  await outer.register(bullBoard, { prefix: '/queues', queue, readiness })
  const load = () => import('no-such-package' as string)
  await outer.register(bullBoard, { prefix: '/missing', queue, readiness, load })
  for (const path of ['/queues', '/queues/api/queues'])
    expect((await outer.inject(path)).body).toBe(
      'ProblemError: The queue in Redis does not respond, or refuses the connection.',
    )
  expect((await outer.inject('/missing')).body).toMatch(
    /^ProblemError: Bull Board is not installed: run `npm install /,
  )
  await outer.close()
  await database.end()
  await queue.close()
})
