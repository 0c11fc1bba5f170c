import { beforeAll, describe, expect, test } from 'vitest'
import type { HttpServer } from '../../src/http/server.ts'
import { openLoaded } from '../helpers/live.ts'
import { send } from './auth/browser.ts'
import { BEARER, TOKEN, unlistened } from './served.ts'

/** `serve` behind a load balancer or another proxy. */

const live = await openLoaded('postgres')
const app = await live.openApp()

test('an idle connection stays open for HTTP_KEEP_ALIVE_S, and does not delay a stop', async () => {
  const server = await unlistened(app)
  const url = await server.app.listen({ host: '127.0.0.1', port: 0 })
  const answer = await fetch(`${url}/healthz`)
  await answer.text()
  expect(answer.headers.get('keep-alive')).toBe('timeout=650')
  await server.app.close()
})

const BASE = '/tools/collab-sync'
const PERSON = { ...BEARER, accept: 'text/html' }

describe.each([
  ['leaves', BASE],
  ['removes', ''],
])('under HTTP_BASE_PATH, behind a proxy that %s the base', (_kind, received) => {
  let server: HttpServer
  let runId: string
  beforeAll(async () => {
    server = await unlistened(app, { httpBasePath: BASE })
    runId = (await ask('POST', '/v1/runs')).json<{ runId: string }>().runId
  })

  const ask = (method: 'GET' | 'POST', path: string) =>
    server.app.inject({
      method,
      url: received + path,
      headers: BEARER,
      ...(method === 'POST' && { payload: {} }),
    })
  /** Asks as the proxy does for an address of a browser; all addresses outside of the base are those of others. */
  const browse = (address: string, headers: Record<string, string> = PERSON) => {
    expect(address).toMatch(new RegExp(`^${BASE}(/|$)`))
    return server.app.inject({ url: received + address.slice(BASE.length) || '/', headers })
  }
  const linksOf = (html: string) =>
    [...html.matchAll(/ (?:href|action|src)="(\/[^"#]*)/g)].map(([, link = '']) =>
      link.replaceAll('&amp;', '&'),
    )

  test('every link, form and file of every page answers', async () => {
    const seen = new Set<string>([BASE, `${BASE}/runs/${runId}`])
    // Those that are found are visited in the same loop.
    for (const address of seen) {
      if (address.endsWith('/sign-out')) continue
      const { statusCode, headers, body } = await browse(address)
      // 400: the form of an action, sent without its fields.
      expect(statusCode, address).toBeOneOf([200, 303, 400])
      if (String(headers['content-type']).startsWith('text/html'))
        for (const link of linksOf(body)) seen.add(link)
    }
    expect([...seen]).toEqual(
      expect.arrayContaining([
        `${BASE}/queues/`,
        `${BASE}/openapi.json`,
        `${BASE}/schedule`,
        `${BASE}/sign-out`,
      ]),
    )
  })

  test('so do the pages of a fault', async () => {
    for (const path of ['/nowhere', '/%zz'])
      for (const link of linksOf((await browse(BASE + path)).body))
        expect((await browse(link)).statusCode, link).toBe(200)
  })

  test('a browser signs in, and gets to the page that it asked for', async () => {
    const asked = await browse(`${BASE}/runs?status=failed`, { accept: 'text/html' })
    expect(asked.body).toContain(`action="${BASE}/sign-in"`)
    const next = /name="next" value="([^"]*)"/.exec(asked.body)?.[1] ?? ''
    const { headers } = await send(server, 'POST', `${received}/sign-in`, {
      headers: { host: 'sync.example.com', origin: 'https://sync.example.com' },
      form: { token: TOKEN, next },
    })
    expect(headers.location).toBe(`${BASE}/runs?status=failed`)
    // A browser takes a cookie of this name for this path alone.
    expect(headers['set-cookie']).toMatch(/^__Host-[^;]*; .*Path=\/;/)
  })

  test('a program finds the API, a run and the next page', async () => {
    const document = (await ask('GET', '/openapi.json')).json<{ servers: unknown }>()
    expect(document.servers).toEqual([{ url: BASE }])
    const started = await ask('POST', '/v1/runs')
    expect(started.headers.location).toMatch(`${BASE}/v1/runs/`)
    const page = await ask('GET', '/v1/runs?limit=1')
    expect(page.headers.link).toMatch(new RegExp(`^<${BASE}/v1/runs\\?.*>; rel="next"$`))
  })
})

test('a path that only begins like the base is not under it; probes need no base', async () => {
  const server = await unlistened(app, { httpBasePath: BASE })
  const statusOf = async (url: string) =>
    (await server.app.inject({ url, headers: BEARER })).statusCode
  expect(await statusOf('/healthz')).toBe(200)
  expect(await statusOf(`${BASE}?x`)).toBe(200)
  expect(await statusOf(`${BASE}x/runs`)).toBe(404)
})
