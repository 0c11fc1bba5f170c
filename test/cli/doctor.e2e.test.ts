import type { IncomingMessage } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { createEmptyDatabase, createTestDatabase, urlWith } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { startRelay } from '../helpers/relay.ts'
import { startReceiver } from '../notify/receiver-server.ts'
import { bytes, openFaultServer } from '../service/fault-server.ts'
import type { Fault } from '../service/fault-server.ts'
import { buildCommand } from './built-command.ts'
import type { Environment } from './built-command.ts'

/** What people get wrong first, each with what `doctor` says of it, and whether a run could succeed all the same. */

const server = await openFaultServer()
const command = await buildCommand()
const settings: Environment = {
  COLLAB_API_URL: server.url,
  COLLAB_API_KEY: 'the-right-key',
  COLLAB_AUTH_TOKEN: 'the-right-token',
  COLLAB_SYNC_HOME: `${command.directory}/none`,
}

/** A service that knows two paths, one key and one token. */
const service: Fault = (response, { url, headers }) => {
  const isKnown =
    headers['x-service-api-key'] === 'the-right-key' &&
    headers['x-service-auth-token'] === 'the-right-token'
  if (!isKnown) return refuse(401, 'UNAUTHENTICATED')(response, { url } as IncomingMessage)
  if (url !== '/v1/users/get') return bytes(404, 'Not found')(response, { url } as IncomingMessage)
  response.end('{"result":{"status":"success","message":"","data":[]}}')
}
const refuse = (status: number, code: string): Fault =>
  bytes(status, JSON.stringify({ error: { status: code, message: 'as it is' } }))

test.each<[string, Fault, Environment, number, RegExp]>([
  ['all is right', service, {}, 0, /^ok +service +.* accepts key and token/m],
  ['an address that ends in /v1', service, { path: '/v1' }, 2, /remove \/v1 and the rest/],
  [
    '404 to everything',
    bytes(404),
    {},
    2,
    /is not the base address of the service.*\n.*correct COLLAB_API_URL/,
  ],
  ['a web page', bytes(200, '<!doctype html><p>Hello'), {}, 2, /not the base address.*a web page/],
  ['a redirect', bytes(301), {}, 2, /redirects \(/],
  [
    'key and token exchanged',
    service,
    { COLLAB_API_KEY: 'the-right-token', COLLAB_AUTH_TOKEN: 'the-right-key' },
    2,
    /refuses the key or the token.*\n.*may be swapped/,
  ],
  [
    'a setting that is misspelt',
    service,
    { SYNC_CONCURENCY: '3' },
    0,
    /^warn +settings +SYNC_CONCURENCY is not a setting; did you mean SYNC_CONCURRENCY\?\n/m,
  ],
  [
    'a body in another charset',
    (response) =>
      response
        .writeHead(200, { 'content-type': 'application/json; charset=iso-8859-1' })
        .end(Buffer.from('{"a":"\xe9"}', 'latin1')),
    {},
    2,
    /returns no usable response: .*HTTP 200, the body is not UTF-8: its charset is iso-8859-1/,
  ],
  [
    'headers that are too large',
    (response) => response.writeHead(200, { 'x-trace': 'a'.repeat(70_000) }).end('{}'),
    {},
    2,
    /headers of 70\d{3} bytes; at most 65536 are accepted\. The longest is x-trace/,
  ],
  [
    'a short key',
    service,
    { COLLAB_API_KEY: 'short' },
    2,
    /^warn +settings +COLLAB_API_KEY has fewer than 12 characters, so it is not masked/m,
  ],
  [
    'a port where nothing listens',
    service,
    { COLLAB_API_URL: 'http://127.0.0.1:9' },
    2,
    /nothing listens there/,
  ],
  ['a service that fails', bytes(500), {}, 2, /returns no usable response: .*HTTP 500/],
  ['a service that gets too many calls', bytes(429), {}, 0, /^warn +service +.* throttles calls/m],
  [
    'an organization that there is not',
    refuse(404, 'NOT_FOUND'),
    {},
    0,
    /^ok +service .*did not refuse key and token/m,
  ],
  [
    'a call that is refused',
    refuse(403, 'PERMISSION_DENIED'),
    {},
    0,
    /^warn +service .*refuses Get Users: .*PERMISSION_DENIED/m,
  ],
])('%s', async (_name, answer, { path = '', ...others }, code, words) => {
  server.usually = answer
  const environment = {
    ...settings,
    COLLAB_API_URL: `${settings['COLLAB_API_URL']}${path}`,
    ...others,
  }
  const looked = await command.run(['doctor'], environment)
  expect(looked.stdout).toMatch(words)
  expect(looked.code).toBe(code)
  expect(looked.stdout + looked.stderr).not.toContain('the-right-')
})

describe('doctor', () => {
  let database: TestDatabase
  let empty: TestDatabase
  beforeAll(async () => {
    server.usually = service
    ;[database, empty] = await Promise.all([createTestDatabase(), createEmptyDatabase()])
  })
  const findingsOf = async (others: Environment, args: string[] = []) => {
    const { code, document } = await command.json(['doctor', ...args], { ...settings, ...others })
    return { code, findings: document.findings as Finding[] }
  }
  const statesOf = (findings: Finding[]) =>
    findings.map(({ check, state }) => `${state} ${check}`).toSorted()

  test('tells of a PostgreSQL that stops responding meanwhile in one row, and tests the rest', async () => {
    const relay = await startRelay(database.url)
    relay.freezeAt('sync.attention_by_kind')
    const { port } = relay
    const { code, findings } = await findingsOf({ DATABASE_URL: urlWith(database.url, { port }) })
    expect(code).toBe(2)
    const names = findings.map(({ check }) => check)
    expect(names).toEqual([...new Set(names)])
    expect(findings.filter(({ state }) => state === 'fail')).toEqual([
      {
        check: 'PostgreSQL',
        state: 'fail',
        found: expect.stringMatching(
          /, during the check of .*open problems.*: no response within 2\.5 s$/,
        ),
        fix: expect.stringMatching(/^try again in a moment; .* the locks of the server$/),
      },
    ])
    expect(statesOf(findings)).toEqual(expect.arrayContaining(['ok service', 'ok tables']))
  })

  test('calls each operation that SYNC_OPERATIONS selects, and says which one is refused', async () => {
    const { url, pool } = await createTestDatabase()
    const lines = [{ organizationId: 'o', documentId: 'd', annotationId: 'a' }]
    await importCatalog(pool, listSource('test', lines), { prune: false })
    server.usually = (response, request) => {
      const answer = request.url === '/v1/users/get' ? service : refuse(403, 'PERMISSION_DENIED')
      answer(response, request)
    }
    const serviceOf = async (operations: string) => {
      const { findings } = await findingsOf({ DATABASE_URL: url, SYNC_OPERATIONS: operations })
      return findings.filter(({ check }) => check === 'service')
    }
    expect(await serviceOf('users,comments')).toEqual([
      {
        check: 'service',
        state: 'ok',
        found: expect.stringMatching(/ responds to Get Users in .* and accepts key and token$/),
      },
      {
        check: 'service',
        state: 'warn',
        found: expect.stringMatching(/ refuses Get Comments: .* PERMISSION_DENIED/),
        fix: expect.stringMatching(/advanced queries .*; SYNC_OPERATIONS=users omits it$/),
      },
    ])
    expect(await serviceOf('comments')).toMatchObject([{ state: 'warn' }])
    expect(await serviceOf('users')).toMatchObject([{ state: 'ok' }])
    server.usually = refuse(403, 'PERMISSION_DENIED')
    expect(await serviceOf('users,comments')).toMatchObject([{ state: 'warn' }, { state: 'warn' }])
    server.usually = refuse(401, 'UNAUTHENTICATED')
    expect(await serviceOf('users,comments')).toMatchObject([{ state: 'fail' }])
    server.usually = service
  })

  test('before migrate says what is next, and does not fail', async () => {
    const { code, stdout } = await command.run(['doctor'], { ...settings, DATABASE_URL: empty.url })
    expect(stdout).toMatch(/^next +tables +they do not exist yet\n +fix: collab-sync migrate$/m)
    expect(stdout).toMatch(/^ok +service /m)
    expect(stdout).toMatch(/^0 problems, 0 warnings\. Next: collab-sync migrate$/m)
    expect(code).toBe(0)
    const migrated = await command.run(['doctor'], { ...settings, DATABASE_URL: database.url })
    expect(migrated.stdout).toMatch(/^0 problems, .* Next: collab-sync catalog import FILE$/m)
    const wrong = { ...settings, DATABASE_URL: empty.url, COLLAB_AUTH_TOKEN: 'another' }
    expect((await command.run(['doctor'], wrong)).code).toBe(2)
  })

  test('counts a wrong setting once, and tests what its own settings allow', async () => {
    const receivers = { NOTIFY_URL: 'http://127.0.0.1:9/a http://localhost:9/b' }
    const { stdout } = await command.run(['doctor'], { ...settings, ...receivers })
    expect(stdout.split('NOTIFY_SECRET is not set')).toHaveLength(2)
    expect(stdout).toMatch(/fix: create one with: echo whsec_\$\(openssl rand -base64 32\)$/m)
    expect(stdout).toMatch(/^1 problem, 0 warnings\.$/m)
    const wrong = {
      SYNC_TZ: 'Mars',
      DATABASE_URL: 'x',
      NOTIFY_SECRET: 'x',
      COLLAB_API_KEY_FILE: '/no',
    }
    const others = await findingsOf({ ...receivers, ...wrong, COLLAB_API_KEY: '' })
    expect(statesOf(others.findings)).toEqual([
      ...Array<string>(4).fill('fail settings'),
      'skip PostgreSQL',
      'skip service',
    ])
    const usable = await findingsOf({ ...receivers, SYNC_TZ: 'Mars', HTTP_PORT: 'x' })
    expect(statesOf(usable.findings)).toEqual([
      ...Array<string>(3).fill('fail settings'),
      'next PostgreSQL',
      'ok service',
    ])
  })

  test('--notify sends each receiver a test message and prints what it answered', async () => {
    const [good, bad] = await Promise.all([startReceiver(), startReceiver()])
    bad.answer(403)
    const NOTIFY_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const NOTIFY_URL = `${good.url}/T0PSECRET slack+${bad.url}/T0PSECRET`
    const test = await findingsOf({ NOTIFY_URL, NOTIFY_SECRET }, ['--notify'])
    const name = (url: string) => new URL(url).host
    expect(test).toEqual({
      code: 2,
      findings: [
        {
          check: 'notify 1',
          state: 'ok',
          found: `json at ${name(good.url)}: accepted the test message (HTTP 200)`,
        },
        {
          check: 'notify 2',
          state: 'fail',
          found: `slack at ${name(bad.url)}: did not accept the test message (HTTP 403)`,
          fix: expect.stringContaining('NOTIFY_URL'),
        },
      ],
    })
    expect(good.received).toMatchObject([
      { headers: { 'webhook-signature': expect.stringMatching(/^v1,/) }, body: { type: 'test' } },
    ])
    bad.answer(200)
    expect((await findingsOf({ NOTIFY_URL, NOTIFY_SECRET }, ['--notify'])).code).toBe(0)
    for (const [wrong, complaint] of [
      [{}, /^NOTIFY_URL is/],
      [{ NOTIFY_URL }, /^NOTIFY_SECRET is/],
    ] as const)
      expect(await command.run(['doctor', '--notify'], { ...settings, ...wrong })).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(complaint),
      })
    expect([good.asked(), bad.asked()]).toEqual([2, 2])
    await Promise.all([good.close(), bad.close()])
  })
})
