import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import type { App } from '../../src/worker/app.ts'
import type { RunningHttp } from '../../src/http/start-http.ts'
import { startWorker } from '../../src/worker/worker.ts'
import type { RunningWorker } from '../../src/worker/worker.ts'
import { openLoaded, settled } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'
import { eventsOf } from './event-stream.ts'
import type { ServerEvent } from './event-stream.ts'
import { BEARER, serveApp } from './served.ts'

const NO_RUN = '00000000-0000-4000-8000-000000000000'
/** Statements of this database that wait for a lock. */
const WAITING = `select count(*) as waiting from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`
/** As many runs can be followed at a time. */
const STREAMS_MAX = 200

interface ServiceResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, any>
}

describe('the API', () => {
  let live: Live
  let app: App
  let http: RunningHttp
  let worker: RunningWorker | null

  beforeEach(async () => {
    live = await openLoaded('postgres')
    app = await live.openApp()
    http = await serveApp(app)
    worker = null
  })
  afterEach(async () => {
    await worker?.stop()
  })

  const work = async () => (worker = await startWorker(app, jobs, { keepsSchedule: false }))

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ServiceResponse> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await fetch(http.url + path, {
      method,
      headers: { ...BEARER, ...type, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: text ? JSON.parse(text) : {} }
  }

  test('a run is asked for, followed to its end by its events, and read', async () => {
    const [organizationId = ''] = live.world.organizationIds()
    const asked = await ask('POST', '/v1/runs', { scope: { organizationIds: [organizationId] } })
    expect(asked).toMatchObject({ status: 202, body: { isNew: true, isDelivered: true } })
    const location = asked.headers.get('location') as string
    expect(location).toBe(`/v1/runs/${asked.body['runId']}`)
    expect((await ask('GET', location)).body).toMatchObject({ status: 'queued', trigger: 'http' })

    const stream = await fetch(`${http.url}${location}/events`, { headers: BEARER })
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/)
    await work()
    const events: ServerEvent[] = []
    for await (const event of eventsOf(stream)) events.push(event)

    expect(events[0]).toMatchObject({ event: 'run', data: { status: 'queued' } })
    expect(events.at(-2)).toMatchObject({ event: 'run', data: { status: 'succeeded' } })
    expect(events.at(-1)).toEqual({
      event: 'end',
      id: 'end',
      data: { runId: asked.body['runId'] },
    })
    const { body: run } = await ask('GET', location)
    expect(run).toMatchObject({
      status: 'succeeded',
      scope: { organizationIds: [organizationId] },
      failuresByCause: [],
      heldWaiting: 0,
    })
    expect(run['scopesSucceeded']).toBe(run['scopesPlanned'])
    const { readAt, durationMs, ...seen } = events.at(-2)?.data ?? {}
    expect([typeof readAt, typeof durationMs]).toEqual(['string', 'number'])
    expect(run).toMatchObject(seen)
  })

  test('a browser that comes back after the last event is told to stay away', async () => {
    const row = await live.run()
    const path = `/v1/runs/${row.run_id}/events`
    const again = await ask('GET', path, undefined, { 'last-event-id': 'end' })
    expect(again.status).toBe(204)
    expect((await ask('GET', `/v1/runs/${NO_RUN}/events`)).status).toBe(404)
  })

  test('whoever follows a run is let go when the server stops, or leaves when they like', async () => {
    const { body } = await ask('POST', '/v1/runs', {})
    const url = `${http.url}/v1/runs/${body['runId']}/events`
    const leaving = new AbortController()
    const left = await fetch(url, { headers: BEARER, signal: leaving.signal })
    const stays = await fetch(url, { headers: BEARER })
    const events = eventsOf(stays)
    expect((await events.next()).value).toMatchObject({ event: 'run' })
    leaving.abort()
    await expect(left.text()).rejects.toThrow()
    const ended = events.next()
    await http.stop()
    expect((await ended).done).toBe(true)
  })

  test('a client that leaves before the first event of a run leaves no stream behind', async () => {
    const { headers } = await ask('POST', '/v1/runs', {})
    const path = `${headers.get('location')}/events`
    const { hostname, port } = new URL(http.url)
    // Nobody's run can be found while this lasts, and by its end they are gone.
    const lock = await live.database.pool.connect()
    await lock.query('begin; lock table sync.runs in access exclusive mode')
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${BEARER.authorization}\r\n\r\n`
    const sockets = Array.from({ length: STREAMS_MAX }, () => connect(Number(port), hostname))
    for (const socket of sockets) socket.write(request)
    await until('the requests wait for the table', async () => {
      const { rows } = await lock.query(WAITING)
      return rows[0].waiting >= live.database.pool.options.max
    })
    await Promise.all(sockets.map((socket) => once(socket.destroy(), 'close')))
    // The server has seen them close when it accepts the next connection.
    await fetch(`${http.url}/healthz`)
    await lock.query('rollback')
    lock.release()
    // The requests of the closed connections come to their end meanwhile.
    for (let each = 0; each < 20; each += 1) await ask('GET', path.replace('/events', ''))
    const stays = await fetch(http.url + path, { headers: BEARER })
    expect(stays.status).toBe(200)
    await stays.body?.cancel()
  })

  test('a stream sends a comment while nothing happens, so that no proxy closes it', async () => {
    const { headers } = await ask('POST', '/v1/runs', {})
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { body } = await fetch(`${http.url}${headers.get('location')}/events`, {
        headers: BEARER,
      })
      let text = ''
      for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += part
        if (text.includes(': still here\n\n')) break
        if (text.includes('event: run')) vi.advanceTimersByTime(15_000)
      }
      expect(text).toContain(': still here\n\n')
    } finally {
      vi.useRealTimers()
    }
  })

  test('two posts with one Idempotency-Key make one run, at once or later, and another scope is refused', async () => {
    const [organizationId = ''] = live.world.organizationIds()
    const key = { 'idempotency-key': 'nightly of 21 November' }
    const scope = { organizationIds: [organizationId] }
    const posts = await Promise.all(
      Array.from({ length: 8 }, () => ask('POST', '/v1/runs', { scope }, key)),
    )
    expect(new Set(posts.map(({ body }) => body['runId'])).size).toBe(1)
    expect(posts.filter(({ body }) => body['isNew'])).toHaveLength(1)
    expect(posts.map(({ status }) => status)).toEqual(Array(8).fill(202))
    const { body } = await ask('POST', '/v1/runs', { scope }, key)
    expect(body).toMatchObject({ runId: posts[0]?.body['runId'], isNew: false })
    expect((await ask('POST', '/v1/runs', {}, key)).status).toBe(422)
    const rows = await live.rows('select count(*) from sync.runs')
    expect(rows).toEqual([{ count: 1 }])
  })

  test('what failed is listed with its cause, and a retry asks for just that', async () => {
    const [organizationId = ''] = live.world.organizationIds()
    live.standIn.setFaults([{ kind: 'forbidden', match: { operation: 'users', organizationId } }])
    await work()
    const { body: first } = await ask('POST', '/v1/runs', {})
    await settled(live.database, first['runId'])
    const { body: run } = await ask('GET', `/v1/runs/${first['runId']}`)
    expect(run).toMatchObject({ status: 'partial' })
    expect(run['failuresByCause'][0]).toMatchObject({ operation: 'users', httpStatus: 403 })

    const { body: failures } = await ask('GET', `/v1/failures?runId=${first['runId']}&limit=500`)
    expect(failures['items']).toHaveLength(run['scopesFailed'])
    expect(failures['items'][0]).toMatchObject({ organizationId, operation: 'users' })
    const other = await ask('GET', '/v1/failures?organizationId=nobody')
    expect(other.body).toEqual({ items: [], nextCursor: null })

    live.standIn.setFaults([])
    const key = { 'idempotency-key': 'again' }
    const retry = await ask('POST', `/v1/runs/${first['runId']}/retry`, undefined, key)
    expect(retry).toMatchObject({ status: 202, body: { isNew: true } })
    expect(retry.headers.get('location')).toBe(`/v1/runs/${retry.body['runId']}`)
    const row = await settled(live.database, retry.body['runId'])
    expect(row).toMatchObject({ status: 'succeeded', scopes_planned: run['scopesFailed'] })
    const twice = await ask('POST', `/v1/runs/${first['runId']}/retry`, undefined, key)
    expect(twice.body).toMatchObject({ runId: retry.body['runId'], isNew: false })

    const { body: listed } = await ask('GET', `/v1/failures?runId=${first['runId']}&limit=500`)
    for (const failure of listed['items'])
      expect(failure).toMatchObject({ state: 'resolved', resolvedBy: retry.body['runId'] })
    const resolved = await ask('POST', `/v1/runs/${first['runId']}/retry`)
    expect(resolved).toMatchObject({ status: 409, body: { status: 409 } })
    expect(resolved.body['detail']).toMatch(/have been resolved since/)

    const nothing = await ask('POST', `/v1/runs/${retry.body['runId']}/retry`)
    expect(nothing).toMatchObject({ status: 409, body: { status: 409 } })
  })

  test('a wrong request is refused by its members, and starts nothing', async () => {
    const schedule = { cron: '61 * * * *', timeZone: 'Mars', x: 1 }
    const wrong = await ask('PUT', '/v1/schedule', schedule)
    expect(wrong.body['errors'].map(({ member }: { member: string }) => member).toSorted()).toEqual(
      ['cron', 'timeZone', 'x'],
    )
    expect(await ask('GET', '/v1/runs?cursor=nonsense')).toMatchObject({
      status: 400,
      body: { errors: [{ in: 'query', member: 'cursor' }] },
    })
    const members = async (body: unknown) => {
      const answer = await ask('POST', '/v1/runs', body)
      return [answer.status, ...(answer.body['errors'] ?? []).map((each: any) => each.member)]
    }
    for (const [body, ...expected] of [
      [{ scope: { organisationIds: ['x'] } }, 400, 'scope.organisationIds'],
      [{ scope: { commentIds: [1.5] } }, 400, 'scope.commentIds.0'],
      [{ scope: { documentId: 'd' } }, 400, 'scope.documentId'],
      [{ scopes: {} }, 400, 'scopes'],
      [[], 400, ''],
      [{ scope: { organizationIds: ['nobody'] } }, 422],
    ])
      expect(await members(body)).toEqual(expected)
    const rows = await live.rows('select count(*) from sync.runs')
    expect(rows).toEqual([{ count: 0 }])
  })
})
