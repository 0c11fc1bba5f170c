import net from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { CallError, UsageError } from '../../src/base/errors.ts'
import type { CallTarget } from '../../src/core/service/errors.ts'
import { Requests } from '../../src/core/service/request.ts'
import type { Reply, RequestOptions } from '../../src/core/service/request.ts'
import { until } from '../helpers/until.ts'
import { bytes, cutBody, held, json, neverAnswers, openFaultServer, reset } from './fault-server.ts'
import type { Fault } from './fault-server.ts'

const target: CallTarget = { operation: 'users', filter: { organizationId: 'o' }, secrets: [] }
const CREDENTIALS = { apiKey: 'key-4711', authToken: 'token-0815' }
function requestsTo(origin: string, options: Partial<RequestOptions> = {}): Requests {
  const requests = new Requests({
    origin,
    apiKeyHeader: 'X-Key',
    authTokenHeader: 'X-Token',
    timeoutMs: 60_000,
    maxBodyBytes: 100_000,
    connections: 4,
    ...options,
  })
  onTestFinished(() => requests.close())
  return requests
}

async function post(fault: Fault, options: Partial<RequestOptions> = {}): Promise<Reply> {
  const server = await openFaultServer(fault)
  return requestsTo(server.url, options).post('/p', '{"data":{}}', CREDENTIALS, { target })
}

describe('one call', () => {
  test('is a POST with the JSON body and the two credential headers', async () => {
    const server = await openFaultServer(json(200, { ok: true }))
    const reply = await requestsTo(server.url).post('/a/b', '{"data":{}}', CREDENTIALS, { target })
    expect(reply).toEqual({
      httpStatus: 200,
      retryAfterMs: null,
      resetMs: null,
      contentType: 'application/json',
      body: Buffer.from('{"ok":true}'),
    })
    expect(server.seen).toHaveLength(1)
    expect(server.seen[0]).toMatchObject({
      path: '/a/b',
      body: '{"data":{}}',
      headers: {
        'content-type': 'application/json',
        'x-key': 'key-4711',
        'x-token': 'token-0815',
        'user-agent': expect.stringMatching(/^collab-sync\/\d+\.\d+\.\d+$/),
      },
    })
  })

  test('keeps its connections for the next ones', async () => {
    const ports = new Set<number | undefined>()
    const server = await openFaultServer()
    server.usually = (response, request) => {
      ports.add(request.socket.remotePort)
      response.end('{}')
    }
    const requests = requestsTo(server.url)
    for (let n = 0; n < 20; n += 1) await requests.post('/', '{}', CREDENTIALS, { target })
    // Two, since an answer is told a moment before its connection is free again.
    expect(ports.size).toBeLessThanOrEqual(2)
  })
})

describe('the way to the service', () => {
  test('gives each address of a name a quarter of the time limit to connect', async () => {
    const connect = vi.spyOn(net, 'connect')
    await post(json(200, {}), { timeoutMs: 20_000 })
    expect(connect.mock.calls.map(([options]) => options)).toMatchObject([
      { autoSelectFamilyAttemptTimeout: 5000 },
    ])
    connect.mockRestore()
  })

  test('is by the proxy of HTTP_PROXY, but for what NO_PROXY names and this machine itself', async () => {
    const proxied = await openFaultServer()
    const direct = await openFaultServer()
    proxied.usually = json(200, { by: 'proxy' })
    direct.usually = json(200, { by: 'itself' })
    vi.stubEnv('http_proxy', '')
    // Without a scheme it is one of HTTP.
    vi.stubEnv('HTTP_PROXY', ` me:p%40ss@${new URL(proxied.url).host}`)
    vi.stubEnv('NO_PROXY', 'direct.example')
    const asking = async (origin: string): Promise<string> =>
      (await requestsTo(origin).post('/p', '{}', CREDENTIALS, { target })).body.toString()
    expect(await asking('http://service.example')).toBe('{"by":"proxy"}')
    const credentials = `Basic ${Buffer.from('me:p@ss').toString('base64')}`
    expect(proxied.seen).toMatchObject([
      {
        path: 'http://service.example/p',
        headers: { 'proxy-authorization': credentials },
      },
    ])
    expect(await asking(direct.url)).toBe('{"by":"itself"}')
    await expect(asking('http://direct.example')).rejects.toThrow('http://direct.example')
    vi.unstubAllEnvs()
    expect(proxied.seen).toHaveLength(1)
  })

  test.each([
    ['HTTPS_PROXY', 'http:s3cret:3128'],
    ['HTTP_PROXY', 'ftp://me:s3cret@proxy.example'],
    ['http_proxy', 'me:s3cret%zz@proxy.example:3128'],
  ])('is not by %s=%s, which is named without its password', (name, text) => {
    vi.stubEnv(name, text)
    const open = () => requestsTo('https://service.example')
    expect(open).toThrow(UsageError)
    expect(open).toThrow(new RegExp(`^${name} must be the address of a proxy, (?!.*s3cret)`))
    vi.unstubAllEnvs()
  })

  test('by a proxy that is not there is told as such', async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://me:s3cret@127.0.0.1:1')
    const failed = requestsTo('https://service.example').post('/p', '{}', CREDENTIALS, { target })
    vi.unstubAllEnvs()
    await expect(failed).rejects.toThrow(
      'no response from https://service.example, as the proxy settings say (ECONNREFUSED)',
    )
  })
})

describe('a call without a full answer', () => {
  test.each([
    ['connection', 'a reset connection', reset, null],
    ['timeout', 'headers that never come', neverAnswers, null],
    ['body_cut', 'a cut body', cutBody, 200],
    ['body_too_large', 'a large body', bytes(200, Buffer.alloc(100_001)), 200],
  ] as const)('is told as %s: %s', async (errorStatus, _what, fault, httpStatus) => {
    const failed = post(fault, { timeoutMs: errorStatus === 'timeout' ? 150 : 60_000 })
    await expect(failed).rejects.toBeInstanceOf(CallError)
    await expect(failed).rejects.toMatchObject({
      errorStatus,
      httpStatus,
      kind: errorStatus === 'body_too_large' ? 'refused' : 'retry',
    })
    await expect(failed).rejects.toThrow('Get Users of organizationId "o" failed: ')
  })

  test.each([
    ['one of 20,000 bytes', { 'x-trace': 'a'.repeat(20_000) }, null],
    [
      '300 of 60',
      Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`x-${n}`, 'a'.repeat(54)])),
      null,
    ],
    [
      'one of 70,000 bytes',
      { 'x-trace': 'a'.repeat(70_000) },
      /headers of 70\d{3} bytes; at most 65536 are accepted\. The longest is x-trace \(70007 bytes\)$/,
    ],
    ['one of 300,000 bytes', { 'x-trace': 'a'.repeat(300_000) }, /headers above 262144 bytes$/],
  ] as const)('headers: %s', async (_what, headers, message) => {
    const reply = post(json(200, {}, headers))
    if (message === null) return expect(await reply).toMatchObject({ httpStatus: 200 })
    await expect(reply).rejects.toMatchObject({ kind: 'refused', errorStatus: 'headers_too_large' })
    await expect(reply).rejects.toThrow(message)
  })

  test('a large body without a length is cut off while it is read', async () => {
    let wasCutOff = false
    const failed = post((response) => {
      const more = () => void response.write(Buffer.alloc(20_000), () => setImmediate(more))
      response.on('close', () => (wasCutOff = true))
      more()
    })
    await expect(failed).rejects.toMatchObject({ errorStatus: 'body_too_large' })
    await until('the connection was closed', () => wasCutOff)
  })

  test('a server that is not there is told with its address and no credential', async () => {
    const server = await openFaultServer()
    await server.close()
    const failed = requestsTo(server.url).post('/', '{}', CREDENTIALS, { target })
    await expect(failed).rejects.toMatchObject({ kind: 'unreachable', httpStatus: null })
    await expect(failed).rejects.toThrow(`no response from ${server.url} (ECONNREFUSED)`)
    await expect(failed).rejects.not.toThrow(/token-0815|key-4711/)
  })

  test('a broken-off 429 is still told with its status and Retry-After', async () => {
    const failed = post((response) => {
      response.writeHead(429, { 'content-length': '100', 'retry-after': '3' })
      response.write('x', () => response.destroy())
    })
    await expect(failed).rejects.toMatchObject({ httpStatus: 429, retryAfterMs: 3000 })
  })
})

describe('a call that is given up', () => {
  test.each([
    ['before it is made', 0],
    ['while it waits', 1],
  ])('%s rejects with the reason of the signal', async (_when, seen) => {
    const server = await openFaultServer(neverAnswers)
    const stop = new AbortController()
    if (seen === 0) stop.abort(new Error('no more'))
    const failed = requestsTo(server.url).post('/', '{}', CREDENTIALS, {
      target,
      signal: stop.signal,
    })
    if (seen > 0) {
      await until('it was seen', () => server.seen.length === seen)
      stop.abort(new Error('no more'))
    }
    await expect(failed).rejects.toThrow('no more')
    await expect(failed).rejects.not.toBeInstanceOf(CallError)
    expect(server.seen).toHaveLength(seen)
  })

  test('before it has a connection is not sent', async () => {
    const { fault, letGo } = held(json(200, {}))
    const server = await openFaultServer(fault)
    const requests = requestsTo(server.url, { connections: 1, timeoutMs: 60_000 })
    const first = requests.post('/first', '{}', CREDENTIALS, { target })
    await until('it was seen', () => server.seen.length === 1)
    const stop = new AbortController()
    const second = requests.post('/second', '{}', CREDENTIALS, { target, signal: stop.signal })
    stop.abort(new Error('no more'))
    await expect(second).rejects.toThrow('no more')
    letGo()
    await first
    await requests.post('/third', '{}', CREDENTIALS, { target })
    expect(server.seen.map((seen) => seen.path)).toEqual(['/first', '/third'])
  })
})
