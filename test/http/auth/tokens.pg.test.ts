import type { LightMyRequestResponse } from 'fastify'
import Fastify from 'fastify'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { addAccessToken, removeAccessToken } from '../../../src/http/auth/access-tokens.ts'
import { openTokens } from '../../../src/http/auth/tokens.ts'
import type { HttpServer } from '../../../src/http/server.ts'
import { listRoutes, requireRights } from '../../../src/http/route-table.ts'
import { openLive } from '../../helpers/live.ts'
import { until } from '../../helpers/until.ts'
import { TOKEN, unlistened } from '../served.ts'
import { cookieOf, ID, OWN, send } from './browser.ts'
import type { Sent } from './browser.ts'

/** Tokens of people and programs: what each allows, when it ends, and that nobody is locked out with a right one. */

const INGRESS = '10.1.2.3'
const WRONG = 'collab_sync_wrong-wrong-wrong'

const tokens: Record<string, string> = {}

const live = await openLive('postgres')
const app = await live.openApp()
const httpTrustedProxies = [`${INGRESS}/32`, '10.9.0.0/16']
const server = await unlistened(app, { httpTrustedProxies })
for (const rights of ['read', 'operate', 'admin'] as const)
  tokens[rights] = await addAccessToken(live.database.pool, `the.${rights}`, rights, 'a test')

const ask = (method: string, url: string, sent?: Sent) => send(server, method, url, sent)

const signIn = (token: string, from?: string, to = server) =>
  send(to, 'POST', '/sign-in', {
    headers: OWN,
    form: { token, next: '/' },
    ...(from !== undefined && { from }),
  })

describe('what a token allows', () => {
  test('every route declares, and a server with one that does not is not made', async () => {
    expect(server.routes.filter(({ right }) => right === undefined)).toEqual([])
    const bare = Fastify()
    const routes = listRoutes(bare)
    bare.get('/declared', { config: { right: 'read' } }, async () => 'ok')
    bare.get('/forgotten', async () => 'ok')
    await bare.ready()
    expect(() => requireRights(routes)).toThrow('The route GET /forgotten declares no right.')
  })

  test('what changes something takes operate, the queue and the tokens admin, and only probes and the sign-in nothing', () => {
    const right = (of: (route: HttpServer['routes'][number]) => boolean) => [
      ...new Set(server.routes.filter(of).map((route) => route.right)),
    ]
    const signs = ['/sign-in', '/sign-out']
    const changes = ({ method, url }: { method: string; url: string }) =>
      !['GET', 'HEAD', 'OPTIONS'].includes(method) && !signs.includes(url)
    const isAdmins = ({ url }: { url: string }) => /^\/(queues|tokens)/.test(url)
    expect(right((route) => changes(route) && !isAdmins(route))).toEqual(['operate'])
    expect(right(isAdmins)).toEqual(['admin'])
    const open = server.routes.filter(
      ({ right: declared, url }) => declared === 'none' && !url.startsWith('/static/'),
    )
    expect(open.map(({ method, url }) => `${method} ${url}`).toSorted()).toEqual([
      'GET /healthz',
      'GET /readyz',
      'HEAD /healthz',
      'HEAD /readyz',
      'POST /sign-in',
    ])
  })

  test('is listed on the page of tokens, where an administrator adds and removes tokens', async () => {
    const token = tokens['admin']
    const list = async () => (await ask('GET', '/tokens', { token })).body
    const first = await list()
    expect(first).toContain('the.read')
    expect(first).toContain('a test')
    expect(first).toContain('Signed in with the.admin (admin).')
    expect(first).not.toContain('HTTP_TOKEN</code> is not set')
    const add = (form: Record<string, string>) => ask('POST', '/tokens', { token, form })

    const added = await add({ name: 'of.page', rights: 'admin' })
    expect(added).toMatchObject({ statusCode: 200, headers: { 'cache-control': 'no-store' } })
    const [secret = ''] = /collab_sync_[\w-]{43}/.exec(added.body) ?? []
    expect(await list()).not.toContain(secret)
    expect(
      await live.rows(`select created_by from sync.access_tokens where name = 'of.page'`),
    ).toEqual([{ created_by: 'the.admin' }])
    for (const form of [
      { name: 'of.page', rights: 'read' },
      { name: 'of page', rights: 'read' },
      { name: 'x', rights: 'all' },
      { rights: 'read' },
    ])
      expect((await add(form)).statusCode, JSON.stringify(form)).toBe(400)

    // Its use is recorded to the hour; a session that began with it ends when it is removed.
    const cookie = cookieOf(await signIn(secret))
    const own = { headers: { ...OWN, cookie } }
    expect((await ask('GET', '/tokens', own)).statusCode).toBe(200)
    await until('its use is recorded', async () => {
      const [row] = await live.rows(
        `select last_used_at = date_trunc('hour', now()) as used from sync.access_tokens where name = 'of.page'`,
      )
      return row?.used === true
    })
    const question = await ask('GET', '/tokens/remove?name=of.page', own)
    expect(question.body).toContain('action="/tokens/remove"')
    const removed = await ask('POST', '/tokens/remove', { ...own, form: { name: 'of.page' } })
    expect(removed).toMatchObject({ statusCode: 303, headers: { location: '/' } })
    expect(String(removed.headers['set-cookie'])).toMatch(/^collab-sync-session=;/)
    expect((await ask('GET', '/tokens', own)).statusCode).toBe(401)
    expect(
      (await ask('POST', '/tokens/remove', { token, form: { name: 'of.page' } })).statusCode,
    ).toBe(400)
    const history = await ask('GET', '/history', { token })
    expect(history.body).toMatch(/token added.*token removed|token removed.*token added/s)
  })

  test('what it cannot change has no button on a page', async () => {
    const pages = ['/', '/runs', '/organizations', '/held', '/schedule']
    const actionsSeenBy = async (token: string | undefined) => {
      const bodies = await Promise.all(
        pages.map(async (path) => (await ask('GET', path, { token })).body),
      )
      return bodies.join('').match(/action="\/actions\//g)?.length ?? 0
    }
    expect(await actionsSeenBy(tokens['operate'])).toBeGreaterThan(0)
    expect(await actionsSeenBy(tokens['read'])).toBe(0)
  })

  test('is held at each route: 403 beyond, and no refusal within', async () => {
    const order = ['none', 'read', 'operate', 'admin']
    const refused: string[] = []
    for (const rights of ['read', 'operate', 'admin']) {
      for (const { method, url, right = '' } of server.routes) {
        if (`${method} ${url}` === 'HEAD /queues/api/redis/stats') continue
        const path = url.replaceAll(/:\w+/g, ID).replaceAll('*', 'x.css')
        const { statusCode, body } = await ask(method, path, { token: tokens[rights] })
        const isCovered = order.indexOf(right) <= order.indexOf(rights)
        const name = `${rights}: ${method} ${path} takes ${right}: ${statusCode}`
        // Bull Board shows nobody the state of Redis.
        const isRefused = statusCode === 403 && !body.includes('ERRORS.FORBIDDEN')
        expect(isRefused, name).toBe(!isCovered)
        if (isRefused) refused.push(`${rights} ${url}`)
        else if (right !== 'none') expect(statusCode, name).not.toBe(401)
      }
    }
    expect(refused).toEqual(
      expect.arrayContaining([
        'read /v1/runs',
        'read /v1/schedule',
        'read /queues/',
        'operate /queues/',
      ]),
    )
  })

  test('a program reads which rights it takes; a page says so in a sentence', async () => {
    const answer = await ask('POST', '/v1/runs', { token: tokens['read'] })
    expect(answer.json()).toMatchObject({
      status: 403,
      detail: 'This requires a token with the rights "operate"; the token has "read".',
    })
    const page = await ask('GET', '/actions/sync', {
      token: tokens['read'],
      headers: { accept: 'text/html' },
    })
    expect(page.statusCode).toBe(403)
    expect(page.headers['content-type']).toMatch(/^text\/html/)
  })

  test('HTTP_TOKEN allows everything', async () => {
    expect((await ask('GET', '/queues/', { token: TOKEN })).statusCode).toBe(200)
    expect((await ask('DELETE', '/v1/schedule', { token: TOKEN })).statusCode).toBe(200)
  })
})

describe('a token that is removed', () => {
  test('opens nothing any more within a second, nor does a session that began with it', async () => {
    // Tokens are read once a second. Waiting for that by tries would use up the limit of the address.
    vi.useFakeTimers({ toFake: ['performance'] })
    const own = await unlistened(app)
    const statusOf = async (shown: Sent) => {
      vi.advanceTimersByTime(1000)
      return (await send(own, 'GET', '/v1/runs', shown)).statusCode
    }
    try {
      const token = await addAccessToken(live.database.pool, 'leaving', 'operate', 'a test')
      expect(await statusOf({ token })).toBe(200)
      const cookie = cookieOf(await signIn(token, undefined, own))
      expect(await statusOf({ headers: { cookie } })).toBe(200)
      const queues = await send(own, 'GET', '/queues/', { headers: { cookie } })
      expect(queues.statusCode).toBe(403)
      await removeAccessToken(live.database.pool, 'leaving', 'a test')
      expect(await statusOf({ headers: { cookie } })).toBe(401)
      expect(await statusOf({ token })).toBe(401)
      // Another one of the same name is another one.
      const another = await addAccessToken(live.database.pool, 'leaving', 'admin', 'a test')
      expect(await statusOf({ token: another })).toBe(200)
      expect(await statusOf({ headers: { cookie } })).toBe(401)
    } finally {
      vi.useRealTimers()
    }
  })

  test('and one that is there are both nowhere in the database, only a hash', async () => {
    const rows = await live.rows('select t::text as row from sync.access_tokens t')
    expect(rows.length).toBeGreaterThan(2)
    for (const { row } of rows)
      for (const token of Object.values(tokens)) expect(row).not.toContain(token.slice(12, 30))
  })

  test('asks PostgreSQL once a second, however many wrong ones are shown', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const asked = vi.spyOn(live.database.pool, 'query')
    try {
      const { find } = openTokens(TOKEN, live.database.pool)
      const showMany = () =>
        Promise.all(Array.from({ length: 300 }, (_, n) => find(`${WRONG}${n}`)))
      expect(new Set(await showMany())).toEqual(new Set([null]))
      vi.advanceTimersByTime(999)
      await showMany()
      expect(asked).toHaveBeenCalledTimes(1)
      vi.advanceTimersByTime(1)
      await showMany()
      expect(asked).toHaveBeenCalledTimes(2)
    } finally {
      vi.useRealTimers()
      asked.mockRestore()
    }
  })
})

describe('behind an ingress, whose address all share', () => {
  const through = (...hops: string[]) => ({ 'x-forwarded-for': hops.join(', ') })
  // Tries are forgotten with time, and a busy machine may take longer than that for one test.
  beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => vi.useRealTimers())

  const tries = (count: number, headers: Record<string, string>, from = INGRESS) =>
    Promise.all(
      Array.from({ length: count }, () => ask('GET', '/v1/runs', { token: WRONG, headers, from })),
    )
  const statuses = (answers: LightMyRequestResponse[]) => [
    ...new Set(answers.map(({ statusCode }) => statusCode)),
  ]

  test('a right token is taken after any number of wrong ones from the same address, as bearer and to sign in', async () => {
    expect(statuses(await tries(15, {}))).toEqual(expect.arrayContaining([429]))
    for (const token of [TOKEN, tokens['read'] as string]) {
      expect((await ask('GET', '/v1/runs', { token, from: INGRESS })).statusCode).toBe(200)
      expect((await signIn(token, INGRESS)).statusCode).toBe(303)
    }
    expect((await signIn(WRONG, INGRESS)).statusCode).toBe(429)
  })

  test('whose request it is a named proxy says; the hops are believed from the right, up to the first other one', async () => {
    // The client wrote the first two itself.
    await tries(10, through('198.51.100.1', '198.51.100.2', '203.0.113.7', '10.9.8.7'))
    expect(statuses(await tries(1, through('203.0.113.7')))).toEqual([429])
    expect(statuses(await tries(1, through('198.51.100.1')))).toEqual([401])
    expect(statuses(await tries(1, through('198.51.100.2')))).toEqual([401])
  })

  test('nobody else is believed, not even on this machine where it is not named', async () => {
    await tries(10, through('203.0.113.50'), '192.0.2.9')
    expect(statuses(await tries(1, through('203.0.113.51'), '192.0.2.9'))).toEqual([429])
    await tries(10, through('203.0.113.50'), '127.0.0.1')
    expect(statuses(await tries(1, through('203.0.113.51'), '127.0.0.1'))).toEqual([429])
    expect(statuses(await tries(1, through('203.0.113.50')))).toEqual([401])
  })
})

describe('wrong tokens', () => {
  let own: HttpServer
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    own = await unlistened(app)
  })
  afterEach(() => vi.useRealTimers())

  const statusOf = async (from: string, token = WRONG, url = '/v1/runs') =>
    (await send(own, 'GET', url, { token, from })).statusCode
  const tryTenTimes = async (from: string, url?: string) => {
    for (let each = 0; each < 10; each += 1) expect(await statusOf(from, WRONG, url)).toBe(401)
  }

  test('are refused until a minute has passed', async () => {
    await tryTenTimes('10.0.0.1')
    const refused = await send(own, 'GET', '/v1/runs', { token: WRONG, from: '10.0.0.1' })
    expect(refused.statusCode).toBe(429)
    expect(refused.headers['retry-after']).toBe('60')
    vi.setSystemTime(Date.now() + 59_000)
    expect(await statusOf('10.0.0.1')).toBe(429)
    vi.setSystemTime(Date.now() + 1_000)
    expect(await statusOf('10.0.0.1')).toBe(401)
  })

  test('are counted at a path that cannot be read too', async () => {
    await tryTenTimes('10.0.0.1', '/%zz')
    expect(await statusOf('10.0.0.1', WRONG, '/%zz')).toBe(429)
  })

  test('from one IPv6 network count as those of one address', async () => {
    for (let each = 0; each < 10; each += 1)
      expect(await statusOf(`2001:db8:0:0:ffff::${each}`)).toBe(401)
    expect(await statusOf('2001:db8::4')).toBe(429)
    expect(await statusOf('2001:db8:0:1::4')).toBe(401)
    await tryTenTimes('::ffff:10.0.0.1')
    expect(await statusOf('10.0.0.1')).toBe(429)
    expect(await statusOf('::ffff:10.0.0.2')).toBe(401)
  })

  test('from many addresses have wrong ones from any other refused, and no right one', async () => {
    for (let each = 0; each < 10; each += 1) await tryTenTimes(`10.1.0.${each}`)
    expect(await statusOf('10.2.0.1')).toBe(429)
    expect(await statusOf('10.2.0.1', TOKEN)).toBe(200)
  })
})
