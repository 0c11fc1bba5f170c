import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { UsageError } from '../../../src/base/errors.ts'
import type { HttpParts } from '../../../src/http/server.ts'
import { startHttp } from '../../../src/http/start-http.ts'
import { closedAtEnd } from '../../helpers/closing.ts'
import { openLive } from '../../helpers/live.ts'
import { openPartsOf, partsOf } from '../served.ts'

const live = await openLive('none')
const parts: HttpParts = openPartsOf(await live.openApp())
const http = await startHttp(parts)
const port: number = Number(new URL(http.url).port)
closedAtEnd(() => http.stop())

/** With node:http, because fetch sets Host and Origin by itself. */
function statusOf(
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode))
    })
    sent.on('error', reject)
    sent.end()
  })
}

describe('without HTTP_TOKEN', () => {
  test('this machine is served without one, pages, queue and API', async () => {
    for (const path of ['/', '/queues', '/static/style.css', '/v1/runs', '/healthz', '/readyz'])
      expect(await statusOf('GET', path), path).toBe(200)
    expect(await statusOf('DELETE', '/v1/schedule')).toBe(200)
    const tokens = await fetch(`${http.url}/tokens`)
    expect(await tokens.text()).toContain('<code>HTTP_TOKEN</code> is not set')
  })

  test('a Host that is not a name of this machine answers 403, at the probes too', async () => {
    for (const host of ['evil.example', `evil.example:${port}`, `127.0.0.1.evil:${port}`])
      for (const path of ['/', '/v1/runs', '/healthz', '/nowhere', '/%'])
        expect(await statusOf('GET', path, { host }), `${host} ${path}`).toBe(403)
    for (const host of [
      `localhost:${port}`,
      `127.0.0.1:${port}`,
      `[::1]:${port}`,
      `LOCALHOST:${port}`,
      // Through a tunnel from another port.
      'localhost:1',
    ])
      expect(await statusOf('GET', '/v1/runs', { host }), host).toBe(200)
  })

  test('an Origin that is not ours answers 403, whether it reads or changes', async () => {
    for (const origin of [
      'http://evil.example',
      'null',
      `http://localhost:${port + 1}`,
      'x',
      'file://',
    ])
      for (const method of ['GET', 'POST', 'DELETE'])
        expect(await statusOf(method, '/v1/schedule', { origin }), `${method} ${origin}`).toBe(403)
    const own = { host: `localhost:${port}`, origin: `http://localhost:${port}` }
    expect(await statusOf('DELETE', '/v1/schedule', own)).toBe(200)
  })

  test('a post that a browser sends for another site answers 403, a link from there leads in', async () => {
    for (const site of ['cross-site', 'same-site']) {
      expect(await statusOf('DELETE', '/v1/schedule', { 'sec-fetch-site': site })).toBe(403)
      expect(await statusOf('GET', '/', { 'sec-fetch-site': site })).toBe(200)
    }
    expect(await statusOf('DELETE', '/v1/schedule', { 'sec-fetch-site': 'same-origin' })).toBe(200)
  })

  test.each(['0.0.0.0', '::', 'db.example.com', '192.168.0.1'])(
    'it refuses to listen on %s',
    async (httpHost) => {
      const start = startHttp({ ...parts, settings: { ...parts.settings, httpHost } })
      await expect(start).rejects.toThrow(UsageError)
      await expect(start).rejects.toThrow(/HTTP_TOKEN is not set/)
    },
  )
})

test('with HTTP_TOKEN it listens anywhere, and a port that is taken is told in a sentence', async () => {
  const settings = { ...partsOf(await live.openApp()).settings, httpHost: '0.0.0.0' }
  const open = await startHttp({ ...parts, settings })
  closedAtEnd(() => open.stop())
  const taken = { ...settings, httpPort: Number(new URL(open.url).port) }
  const start = startHttp({ ...parts, settings: taken })
  await expect(start).rejects.toThrow(UsageError)
  await expect(start).rejects.toThrow(/HTTP_PORT=\d+ are not available: another program/)
})
