import { hkdfSync } from 'node:crypto'
import { sign } from '@fastify/cookie'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openDatabase } from '../../../src/core/database/pool.ts'
import { openTokens } from '../../../src/http/auth/tokens.ts'
import { openLive } from '../../helpers/live.ts'
import { startRelay } from '../../helpers/relay.ts'
import { until } from '../../helpers/until.ts'
import { BEARER, partsOf, TOKEN, unlistened, unlistenedOn } from '../served.ts'
import { cookieOf, ID, OWN, send } from './browser.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }

const live = await openLive('none')
const app = await live.openApp()
const server = await unlistened(app)

/** Tries are forgotten with time, and a busy machine may take longer than that for one test. */
const stopClock = () => void vi.useFakeTimers({ toFake: ['Date'] })
afterEach(() => void vi.useRealTimers())

/** Asks as one of many addresses, so that the tries of one test are not those of another. */
let addresses = 0
const anyAddress = () => `10.9.${Math.floor(addresses / 250)}.${(addresses += 1) % 250}`
const ask = (
  method: string,
  url: string,
  headers: Record<string, string> = {},
  from = anyAddress(),
) => send(server, method, url, { headers, from })

const signIn = (
  token: string,
  headers: Record<string, string> = OWN,
  next = '/runs',
  from = anyAddress(),
) => send(server, 'POST', '/sign-in', { headers, form: { token, next }, from })

const signedIn = async () => cookieOf(await signIn(TOKEN))

describe('without the token', () => {
  test('every route but the probes, the static files and the sign-in answers 401, whatever the method', async () => {
    const open = /^[A-Z]+ \/(healthz|readyz|static\/.*)$|^POST \/sign-in$/
    const closed = server.routes.filter(({ method, url }) => !open.test(`${method} ${url}`))
    expect(closed.map(({ url }) => url)).toEqual(
      expect.arrayContaining([
        '/',
        '/v1/runs',
        '/openapi.json',
        '/metrics',
        '/queues/',
        '/queues/static/*',
        '/sign-out',
      ]),
    )
    for (const { method, url } of closed) {
      const path = url.replaceAll(/:\w+/g, ID).replaceAll('*', 'x.css')
      for (const accept of ['application/json', BROWSER.accept]) {
        const answer = await ask(method, path, { accept })
        expect(answer.statusCode, `${method} ${path} (${accept})`).toBe(401)
      }
    }
  })

  test.each(['/no/such/path', '/v1', '/%', '/%00', `/${'x'.repeat(2000)}`, '//', '/queues/../'])(
    'a path that leads nowhere answers 401 too: %s',
    async (path) => {
      expect((await ask('GET', path)).statusCode).toBe(401)
      expect((await ask('POST', path)).statusCode).toBe(401)
    },
  )

  test('a program reads a problem that says how to show the token', async () => {
    const answer = await ask('GET', '/v1/runs')
    expect(answer.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'www-authenticate': 'Bearer realm="collab-sync"',
      'cache-control': 'no-store',
    })
    expect(answer.json()).toMatchObject({ status: 401, instance: '/v1/runs' })
  })

  test('a browser gets the form, which leads back, with its stylesheet', async () => {
    for (const path of ['/runs?status=failed', '/queues', '/x?"><script>']) {
      const answer = await ask('GET', path, BROWSER)
      expect(answer.statusCode).toBe(401)
      expect(answer.body).not.toContain('<script')
      expect(answer.body).toMatch(/ method="post" action="\/sign-in"/)
      const [, next = ''] = /name="next" value="([^"]*)"/.exec(answer.body) ?? []
      expect(decodeURI(next).replace('&quot;', '"')).toBe(path)
      const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(answer.body) ?? []
      expect((await ask('GET', style)).statusCode).toBe(200)
    }
  })
})

describe('a bearer', () => {
  test('of the token opens, of any other does not', async () => {
    expect((await ask('GET', '/v1/runs', BEARER)).statusCode).toBe(200)
    for (const value of [`${TOKEN}x`, TOKEN.slice(1), 'x', TOKEN.toUpperCase()])
      expect((await ask('GET', '/v1/runs', { authorization: `Bearer ${value}` })).statusCode).toBe(
        401,
      )
    for (const authorization of ['Bearer', 'Bearer ', `Basic ${btoa(`:${TOKEN}`)}`, TOKEN])
      expect((await ask('GET', '/v1/runs', { authorization })).statusCode).toBe(401)
  })
})

describe('a bearer that a proxy adds', () => {
  const JWT = `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(43)}`
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` })
  const askMany = async (headers: Record<string, string>, from: string) => {
    const statuses = new Set<number>()
    for (let each = 0; each < 15; each += 1)
      statuses.add((await ask('GET', '/v1/runs', headers, from)).statusCode)
    return [...statuses]
  }

  test.each([
    ['a JWT', JWT],
    ['an opaque token', 'opaque-opaque-opaque'],
  ])('beside a session is no failed try: %s', async (_kind, value) => {
    stopClock()
    const cookie = await signedIn()
    const from = `10.203.0.${value.length}`
    expect(await askMany({ cookie, ...bearer(value) }, from)).toEqual([200])
    expect((await signIn('wrong', OWN, '/', from)).statusCode).toBe(401)
  })

  test('does not replace the check from which page a change comes', async () => {
    const cookie = await signedIn()
    const remove = async (headers: Record<string, string>) =>
      (await ask('DELETE', '/v1/schedule', { cookie, host: 'localhost:80', ...headers })).statusCode
    const foreign = { ...bearer(JWT), origin: 'http://evil.example' }
    expect(await remove(foreign)).toBe(403)
    expect(await remove(bearer(JWT))).toBe(403)
    expect(await remove({ ...foreign, origin: 'http://localhost' })).toBe(200)
    // A bearer of ours is shown by a program: no page can send it.
    expect(await remove(BEARER)).toBe(200)
  })

  test('without a session opens nothing; a JWT is a failed try only where HTTP_TOKEN is one', async () => {
    stopClock()
    expect(await askMany(bearer(JWT), '10.204.0.1')).toEqual([401])
    expect(await askMany(bearer('opaque-opaque-opaque'), '10.204.0.2')).toEqual([401, 429])
    const { isForeign } = openTokens(JWT, live.database.pool)
    expect(isForeign(JWT.replace('c', 'd'))).toBe(false)
  })
})

describe('signing in', () => {
  test('gives a cookie that opens what the token opens, to this browser and page only', async () => {
    const answer = await signIn(TOKEN)
    expect(answer.statusCode).toBe(303)
    expect(answer.headers.location).toBe('/runs')
    const set = String(answer.headers['set-cookie'])
    expect(set).toMatch(
      /^collab-sync-session=[\w.%-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    expect(set).not.toContain(TOKEN)
    const cookie = cookieOf(answer)
    expect((await ask('GET', '/v1/runs', { cookie })).statusCode).toBe(200)
    expect((await ask('GET', '/sign-in', { cookie })).headers.location).toBe('/')
  })

  test('over https the cookie is of this host and https alone', async () => {
    const answer = await signIn(TOKEN, {
      host: 'sync.example.com',
      origin: 'https://sync.example.com',
    })
    expect(String(answer.headers['set-cookie'])).toMatch(/^__Host-collab-sync-session=.*; Secure/)
    const cookie = cookieOf(answer)
    expect((await ask('GET', '/v1/runs', { cookie })).statusCode).toBe(200)
  })

  test('with a wrong token shows the form again, and says so', async () => {
    const answer = await signIn('wrong')
    expect(answer.statusCode).toBe(401)
    expect(answer.body).toContain('name="next" value="/runs"')
    expect(answer.body).toContain('The token is wrong.')
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  test.each([
    ['https://evil.example/', '/'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/.//evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['runs', '/'],
    ['/sign-in', '/'],
    ['/runs?status=failed#x', '/runs?status=failed'],
  ])('leads to a page of ours only: %j leads to %s', async (next, location) => {
    expect((await signIn(TOKEN, OWN, next)).headers.location).toBe(location)
  })

  test('from a page of another site is refused', async () => {
    for (const headers of [
      { ...OWN, origin: 'http://evil.example' },
      { ...OWN, origin: 'null' },
      { ...OWN, 'sec-fetch-site': 'cross-site' },
    ])
      expect((await signIn(TOKEN, headers)).statusCode).toBe(403)
  })

  test('out takes the cookie, over https also one that was given over http', async () => {
    const cookie = await signedIn()
    const namesFrom = async (headers: Record<string, string>) => {
      const answer = await ask('POST', '/sign-out', { ...headers, cookie })
      expect(answer.statusCode).toBe(303)
      return [answer.headers['set-cookie']].flat().map((set) => String(set).split('; ', 2))
    }
    const taken = ['collab-sync-session=', 'Max-Age=0']
    expect(await namesFrom(OWN)).toEqual([taken])
    const secure = { host: 'sync.example.com', origin: 'https://sync.example.com' }
    expect(await namesFrom(secure)).toEqual([taken, ['__Host-collab-sync-session=', 'Max-Age=0']])
  })
})

describe('a cookie', () => {
  test('changes something only for a page of ours', async () => {
    const cookie = await signedIn()
    const remove = (headers: Record<string, string>) =>
      ask('DELETE', '/v1/schedule', { cookie, host: 'localhost:80', ...headers })
    expect((await remove({ origin: 'http://evil.example' })).statusCode).toBe(403)
    expect((await remove({ origin: 'http://localhost:81' })).statusCode).toBe(403)
    expect((await remove({ origin: 'null' })).statusCode).toBe(403)
    expect((await remove({ 'sec-fetch-site': 'same-site' })).statusCode).toBe(403)
    expect((await remove({})).statusCode).toBe(403)
    expect((await remove({ origin: 'http://localhost' })).statusCode).toBe(200)
  })

  test('that is made up or changed opens nothing', async () => {
    const [name, value = ''] = (await signedIn()).split('=')
    const [expires = '', tokenId = '', ...signature] = decodeURIComponent(value).split('.')
    const signed = signature.join('.')
    const forged = [
      `${Number(expires) + 1}.${tokenId}.${signed}`,
      `${expires}.1.${signed}`,
      `${expires}.00.${signed}`,
      `${expires}${tokenId}..${signed}`,
      `${expires}.${signed}`,
      `${expires}.${tokenId}.`,
      `9999999999.${tokenId}`,
      'x',
    ].map((each) => `${name}=${encodeURIComponent(each)}`)
    for (const cookie of [...forged, '%', '=;;='])
      expect((await ask('GET', '/v1/runs', { cookie })).statusCode, cookie).toBe(401)
  })

  test('is accepted by every server with the same HTTP_TOKEN, for twelve hours', async () => {
    stopClock()
    const cookie = await signedIn()
    const servers = await Promise.all(
      [TOKEN, 'another-token-of-them'].map((token) => unlistenedOn(partsOf(app, token))),
    )
    const statuses = () =>
      Promise.all(
        servers.map(async (each) => {
          const answer = await send(each, 'GET', '/v1/runs', { headers: { cookie } })
          return answer.statusCode
        }),
      )
    vi.setSystemTime(Date.now() + (12 * 3600 - 1) * 1000)
    expect(await statuses()).toEqual([200, 401])
    vi.setSystemTime(Date.now() + 1000)
    expect(await statuses()).toEqual([401, 401])
  })
})

describe('the key of a cookie', () => {
  const HOUR_S = 3600
  const cookieWith = (salt: Buffer | string, aheadS: number) => {
    const key = Buffer.from(hkdfSync('sha256', TOKEN, salt, 'collab-sync session', 32))
    const value = sign(`${Math.floor(Date.now() / 1000) + aheadS}.0`, key)
    return { cookie: `collab-sync-session=${encodeURIComponent(value)}` }
  }

  test('needs the secret of the database, and opens nothing for longer than a session lasts', async () => {
    const rows = await live.rows<{ salt: Buffer }>('select salt from sync.privacy')
    const [{ salt } = { salt: Buffer.of() }] = rows
    const status = async (...given: Parameters<typeof cookieWith>) =>
      (await ask('GET', '/v1/runs', cookieWith(...given))).statusCode
    expect(await status(salt, HOUR_S)).toBe(200)
    expect(await status('', HOUR_S)).toBe(401)
    expect(await status(Buffer.alloc(32), HOUR_S)).toBe(401)
    for (const aheadS of [0, -1, 13 * HOUR_S, 10 * 365 * 24 * HOUR_S])
      expect(await status(salt, aheadS), `${aheadS} s ahead`).toBe(401)
  })

  test('is read once: until then no cookie is accepted and the page says why, HTTP_TOKEN is', async () => {
    const { url } = live.database
    const relay = await startRelay('http://127.0.0.1:1')
    const through = new URL(url)
    through.host = `127.0.0.1:${relay.port}`
    const database = openDatabase(through.href)
    const late = await unlistenedOn({ ...partsOf(app), store: { database } })
    const get = (headers: Record<string, string>) => send(late, 'GET', '/openapi.json', { headers })
    const enter = (token: string) =>
      send(late, 'POST', '/sign-in', { headers: { ...OWN, ...BROWSER }, form: { token } })
    try {
      const cookie = await signedIn()
      const sentence = /Sessions are not available, because .* PostgreSQL since it started;/
      const refused = await get({ cookie })
      expect(refused.statusCode).toBe(503)
      expect(refused.json()).toMatchObject({
        detail: expect.stringMatching(sentence),
        away: ['postgresql'],
      })
      const page = await enter(TOKEN)
      expect(page.statusCode).toBe(503)
      expect(page.headers['set-cookie']).toBeUndefined()
      expect(page.body.replaceAll(/<[^>]+>/g, '')).toMatch(sentence)
      expect((await enter('wrong')).statusCode).toBe(401)
      expect((await get({})).statusCode).toBe(401)
      expect((await get(BEARER)).statusCode).toBe(200)

      relay.leadTo(url)
      await until('the key is read', async () => (await get({ cookie })).statusCode === 200)
      expect((await enter(TOKEN)).statusCode).toBe(303)
      relay.cut()
      expect((await get({ cookie })).statusCode).toBe(200)
    } finally {
      relay.cut()
      await late.app.close()
      await database.end()
    }
  })
})

test('every answer carries the headers that guard a browser', async () => {
  for (const [path, headers] of [
    ['/healthz', {}],
    ['/', BEARER],
    ['/queues', BEARER],
    ['/queues', BROWSER],
    ['/nowhere', BEARER],
    ['/v1/runs', {}],
    ['/nowhere', BROWSER],
    ['/%zz', {}],
    ['/%zz', BROWSER],
    ['/%zz', BEARER],
    ['/%zz', { ...BEARER, ...BROWSER }],
  ] as const) {
    const answer = await ask('GET', path, headers)
    expect(answer.headers, path).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /default-src 'none'.*frame-ancestors 'none'/,
      ),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    expect(answer.headers).not.toHaveProperty('strict-transport-security')
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  }
})
