import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { HttpServer } from '../../src/http/server.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { BEARER, unlistened } from './served.ts'

/** As many as may follow runs at a time. */
const STREAMS = 200

let live: Live
let server: HttpServer

beforeAll(async () => {
  live = await openLive('none')
  await live.importCatalog()
  server = await unlistened(await live.openApp())
  await server.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await server?.app.close()
  await live?.close()
})

test('whoever leaves before the first event of a run leaves no stream behind', async () => {
  const { server: listener } = server.app
  const { port } = listener.address() as AddressInfo
  const asked = await server.app.inject({
    method: 'POST',
    url: '/v1/runs',
    headers: BEARER,
    payload: {},
  })
  const path = `${asked.headers.location}/events`
  let requests = 0
  listener.on('request', () => (requests += 1))
  const countConnections = promisify(listener.getConnections.bind(listener))

  // Nobody's run can be found while this lasts, and by its end they are gone.
  const lock = await live.database.pool.connect()
  await lock.query('begin; lock table sync.runs in access exclusive mode')
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${BEARER.authorization}\r\n\r\n`
  for (let each = 0; each < STREAMS; each += 1) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.end(request)
  }
  await expect
    .poll(async () => [requests, await countConnections()], { timeout: 60_000 })
    .toEqual([STREAMS, 0])
  await lock.query('rollback')
  lock.release()

  const stays = await fetch(`http://127.0.0.1:${port}${path}`, { headers: BEARER })
  expect(stays.status).toBe(200)
  await stays.body?.cancel()
})

test('a stream sends a comment while nothing happens, so that no proxy closes it', async () => {
  const { port } = server.app.server.address() as AddressInfo
  const post = { method: 'POST', url: '/v1/runs', headers: BEARER, payload: {} } as const
  const { location } = (await server.app.inject(post)).headers
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const events = `http://127.0.0.1:${port}${location}/events`
    const { body } = await fetch(events, { headers: BEARER })
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
