import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { CallError, FailureKind } from '../../src/base/errors.ts'
import type { CallReport, CollabApiOptions } from '../../src/core/service/client.ts'
import { NO_RATE_LIMIT } from '../../src/core/service/shared-rate-limit.ts'
import { until } from '../helpers/until.ts'
import { bytes, held, json, neverAnswers, noStats, startClient, success } from './fault-server.ts'
import type { Fault } from './fault-server.ts'

const start = (script: Fault[], options: Partial<CollabApiOptions> = {}) =>
  startClient(script, { retries: 0, throttledMaxMs: 0, ...options })

const users = { organizationId: 'o' }
const ended = (call: Promise<unknown>) => call.catch((error: unknown) => error)

/** By column: the answer to every call, the retries of a call, its tries, its end, and the outcome of its first try. */
type Row = [
  what: string,
  fault: Fault,
  retries: number,
  tries: number,
  end: 'data' | FailureKind,
  outcome: CallReport['outcome'],
  /** How long all processes pause after the first call, in milliseconds. */
  pause: number | null,
  /** `fewer` calls are in flight from then on, `open`: after five such documents the sixth is not fetched. */
  ...later: ('fewer' | 'open')[],
]
const odd = json(200, { error: { status: 'ODD_ONE' } })
const denied = json(200, { error: { status: 'permission_denied' } })
const after = (header: string, value: string, status = 429) => json(status, {}, { [header]: value })

// prettier-ignore
const ROWS: Row[] = [
  ['a success', success([]), 1, 1, 'data', 'success', null],
  ['429', json(429, {}), 1, 1, 'throttled', 'overload', 250, 'fewer'],
  ['429 with Retry-After beyond the limit', after('retry-after', '9'), 1, 1, 'throttled', 'overload', 50, 'fewer'],
  ['429 with Retry-After 0', after('retry-after', '0'), 1, 1, 'throttled', 'overload', null, 'fewer'],
  ['429 with its reset', after('x-ratelimit-reset', '0.03'), 1, 1, 'throttled', 'overload', 30, 'fewer'],
  ['403 with Retry-After', after('retry-after-ms', '20', 403), 1, 1, 'throttled', 'overload', 20, 'fewer'],
  ['503', json(503, {}), 1, 2, 'retry', 'overload', null, 'fewer', 'open'],
  ['no answer', neverAnswers, 1, 2, 'retry', 'timeout', null, 'fewer', 'open'],
  ['500', json(500, {}), 2, 3, 'retry', 'transient', null, 'open'],
  ['a code never seen', odd, 1, 2, 'unknown', 'unknown', null],
  ['such a code, with many retries', odd, 9, 3, 'unknown', 'unknown', null],
  ['400', json(400, {}), 1, 1, 'refused', 'refused', null],
  ['403', json(403, {}), 1, 1, 'refused', 'refused', null, 'open'],
  ['permission_denied', denied, 1, 1, 'refused', 'refused', null, 'open'],
  ['401', json(401, {}), 1, 1, 'credentials', 'credentials', null],
]

/** Fetches one document, then four at once, then a sixth; and where that is stopped, what else there is. */
async function observe([what, fault, retries, , , , , ...later]: Row) {
  const timeout = what === 'no answer' ? { timeoutMs: 200 } : {}
  const { server, api, reports, pauses } = await start([], { retries, ...timeout })
  server.usually = fault
  const get = (documentId: string, organizationId = 'o') =>
    ended(api.get('users', { organizationId, documentId }))
  const first = await get('1')
  const seen = { tries: server.seen.length, pauses: [...pauses], limit: api.concurrency().limit }
  await Promise.all(['2', '3', '4', '5'].map((documentId) => get(documentId)))
  const sixth = await get('6')
  const calls = server.seen.length
  if (later.includes('open')) {
    server.usually = success([])
    const comments = { organizationId: 'o', documentId: '6', annotationId: 'a' }
    for (const other of [get('6', 'other'), ended(api.get('comments', comments))])
      expect(await other).toMatchObject({ status: 'data' })
    expect(await get('6')).toMatchObject({ errorStatus: 'breaker_open' })
    api.startAfresh()
    expect(await get('6')).toMatchObject({ status: 'data' })
  }
  return { first, ...seen, report: reports[0], sixth, calls }
}
// All at once, for the waits: each has a server and a client of its own.
const observed = await Promise.all(ROWS.map(observe))

test.each(ROWS.map((row, n) => [n, ...row] as const))(
  'row %d: %s is tried as often as it may help, is reported, and says what it says of the service to all calls',
  (n, _what, _fault, _retries, tries, end, outcome, pause, ...later) => {
    const { first, sixth, ...seen } = observed[n] as (typeof observed)[number]
    expect(first).toMatchObject(end === 'data' ? { status: end } : { kind: end, attempts: tries })
    expect(seen.report).toEqual({
      operation: 'users',
      outcome,
      isRetry: false,
      waitedMs: expect.any(Number),
      waitedThrottledMs: 0,
      serviceMs: expect.any(Number),
    })
    expect(seen.report?.serviceMs).toBeGreaterThan(0)
    expect([seen.tries, seen.pauses]).toEqual([tries, pause === null ? [] : [pause]])
    expect(seen.limit < 8).toBe(later.includes('fewer'))
    if (!later.includes('open'))
      return expect(sixth).not.toMatchObject({ errorStatus: 'breaker_open' })
    expect(sixth).toMatchObject({
      kind: 'refused',
      errorStatus: 'breaker_open',
      attempts: 0,
      cause: { kind: end },
      message: `Get Users of organizationId "o", documentId "6" was skipped: 5 calls in a row failed here, the last: ${((sixth as CallError).cause as CallError).message}`,
    })
    expect(seen.calls).toBe(5 * tries)
  },
)

test('all annotations of a document are one of the five that stop further calls, and a success starts anew', async () => {
  const { server, api } = await start([])
  server.usually = json(403, {})
  const get = (documentId: string, annotationId = 'a') =>
    ended(api.get('comments', { organizationId: 'o', documentId, annotationId }))
  for (const annotationId of 'abcdefghi') await get('1', annotationId)
  for (const documentId of '1234') await get(documentId)
  server.script.push(success([]))
  expect(await get('5')).toMatchObject({ status: 'data' })
  for (const documentId of '6789') await get(documentId)
  expect(await get('10')).toMatchObject({ httpStatus: 403, errorStatus: null })
  expect(await get('11')).toMatchObject({ errorStatus: 'breaker_open' })
})

describe('a call that was made is reported', () => {
  test('given up by us', async () => {
    const { server, api, reports } = await start([neverAnswers])
    const stop = new AbortController()
    const call = ended(api.get('users', users, { signal: stop.signal }))
    await until('the call was seen', () => server.seen.length === 1)
    stop.abort(new Error('stopped'))
    await call
    expect(reports).toMatchObject([{ outcome: 'given_up' }])
  })

  test('further tries as such, here and to who asked', async () => {
    const { api, reports } = await start([json(500, {})], { retries: 1 })
    const sent: boolean[] = []
    const stats = noStats()
    await api.get('users', users, { stats, onSent: (isRetry) => sent.push(isRetry) })
    expect(stats).toMatchObject({ calls: 2, retries: 1 })
    expect(reports.map(({ outcome, isRetry }) => [outcome, isRetry])).toEqual([
      ['transient', false],
      ['success', true],
    ])
    expect(sent).toEqual([false, true])
  })
})

test('a refused token fails the calls that wait with it, without a call', async () => {
  const { server, api } = await start([], { concurrency: 1 })
  server.usually = json(401, {})
  const failed = await Promise.all([1, 2, 3].map(() => ended(api.get('users', users))))
  expect(failed).toMatchObject(failed.map(() => ({ kind: 'credentials' })))
  expect(server.seen).toHaveLength(1)
  api.startAfresh()
  server.usually = success([])
  expect(await api.get('users', users)).toMatchObject({ status: 'data' })
})

describe('one call', () => {
  test('is made once there is memory for its answer; one of a caller that holds some is made at once', async () => {
    const { server, api } = await start([])
    const full = api.memory.open(1e9)
    const call = api.get('users', users)
    const other = api.memory.open(1)
    const later = { organizationId: 'o', documentId: 'd', annotationId: 'later' }
    await api.get('comments', later, { memory: other })
    expect(server.seen).toHaveLength(1)
    full.resize(0)
    expect(await call).toMatchObject({ status: 'data' })
    expect(server.seen).toHaveLength(2)
  })

  test('waits for memory before a large answer comes, without its permit', async () => {
    const large = json(200, { pad: ' '.repeat(1_000_000) }, { 'content-length': '1000010' })
    const { api } = await start([large], { concurrency: 1, maxBodyBytes: 2_000_000 })
    const [held, holder] = [api.memory.open(63_999_999), api.memory.open(1)]
    held.resize(63_500_000)
    let commits = 0
    api.memory.whenFull(() => (commits += 1))
    let isOver = false
    const call = ended(api.get('users', users)).finally(() => (isOver = true))
    await until('it waits', () => commits > 0)
    expect(api.concurrency()).toMatchObject({ inFlight: 0 })
    expect(await api.get('users', users, { memory: holder })).toMatchObject({ status: 'data' })
    expect(isOver).toBe(false)
    held.resize(0)
    expect(await call).toMatchObject({ httpStatus: 200, errorStatus: 'no_data' })
    expect([api.concurrency().inFlight, holder.bytes > 1]).toEqual([0, true])
  })

  test('that waits for memory is given up by its wait signal', async () => {
    const large = json(200, { pad: ' '.repeat(1_000_000) }, { 'content-length': '1000010' })
    const { api } = await start([large], { maxBodyBytes: 2_000_000 })
    const stop = new AbortController()
    const held = api.memory.open(63_500_000)
    api.memory.whenFull(() => stop.abort(new Error('no more')))
    const memory = api.memory.open()
    const call = api.get('users', users, { memory, waitSignal: stop.signal })
    await expect(call).rejects.toThrow('no more')
    expect([memory.bytes, api.memory.isFull, api.concurrency().inFlight]).toEqual([0, false, 0])
    held.resize(0)
    expect(memory.bytes).toBe(0)
  })

  test('keeps what its caller counts, and gives back what a failed try took', async () => {
    const body = JSON.stringify({ result: { status: 'success', message: '', data: [] } })
    const { api } = await start([bytes(500, 'x'.repeat(5000)), bytes(200, body)], { retries: 1 })
    const memory = api.memory.open(7)
    const failed: number[] = []
    await api.get('users', users, { memory, onFailedTry: () => failed.push(memory.bytes) })
    expect([failed, memory.bytes]).toEqual([[7], 7 + body.length])
  })

  test.each([
    ['a short answer once it is read', 200, 2000, 'begin read begin read'],
    ['a longer one before it is read', 200, 2001, 'begin begin read read'],
    ['an error, however long, once it is read', 500, 5000, 'begin read begin read'],
  ])('lets the next one begin behind %s', async (_what, status, length, order) => {
    const events: string[] = []
    const { api } = await start([bytes(status, '{}'.padEnd(length))], {
      concurrency: 1,
      onCall: () => events.push('read'),
      sharedRateLimit: {
        ...NO_RATE_LIMIT,
        acquire: () => (events.push('begin'), null),
      },
    })
    await Promise.all([1, 2].map(() => ended(api.get('users', users))))
    expect(events.join(' ')).toBe(order)
  })

  test('waits no longer than its wait signal, and a call in flight goes on', async () => {
    const { fault, letGo } = held(success([]))
    const { server, api } = await start([fault], { concurrency: 1 })
    const stop = new AbortController()
    const inFlight = api.get('users', users, { waitSignal: stop.signal })
    await until('the call was seen', () => server.seen.length === 1)
    const waiting = ended(api.get('users', users, { waitSignal: stop.signal }))
    stop.abort(new Error('no more'))
    expect(await waiting).toMatchObject({ message: 'no more' })
    letGo()
    expect(await inFlight).toMatchObject({ status: 'data' })
    expect(server.seen).toHaveLength(1)
  })

  test('adds its times to what is counted of a batch', async () => {
    const { api, reports, server } = await start([], { concurrency: 1 })
    server.usually = json(429, {}, { 'retry-after': '1' })
    await ended(api.get('users', users))
    // The pause of all processes lasts on.
    api.startAfresh()
    server.usually = success([])
    const stats = noStats()
    await api.get('users', users, { stats })
    const { waitedThrottledMs } = reports[1] as CallReport
    expect(stats).toMatchObject({ calls: 1, retries: 0, waitedMs: 0, waitedThrottledMs })
    expect(waitedThrottledMs).toBeGreaterThan(0)
    expect(stats.serviceMs).toBe(reports[1]?.serviceMs)
  })

  test('counts how long it is throttled while that lasts: until its next try, and until the pause of another call ends', async () => {
    const waits = { retryAfterMaxMs: 60_000, throttledMaxMs: 600_000 }
    const { api, server } = await start([], waits)
    server.usually = json(429, {}, { 'retry-after': '60' })
    const stop = new AbortController()
    const calls: Promise<unknown>[] = []
    for (const inFlight of [0, 1]) {
      const stats = noStats()
      let throttledMs = 0
      const call = { stats, signal: stop.signal, onThrottled: (ms: number) => (throttledMs += ms) }
      calls.push(ended(api.get('users', users, call)))
      await until('its wait is counted', () => {
        api.countWaits()
        return stats.waitedThrottledMs > 0 && stats.waitedThrottledMs === throttledMs
      })
      expect([stats.calls, server.seen.length]).toEqual([1 - inFlight, 1])
    }
    stop.abort(new Error('no more'))
    for (const call of calls) expect(await call).toMatchObject({ message: 'no more' })
  })

  test.each([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (body: string) => body],
  ])('reads a body encoded by %s', async (encoding, encode) => {
    const body = JSON.stringify({ result: { status: 'success', message: '', data: [] } })
    const { api } = await start([
      (response) => response.writeHead(200, { 'content-encoding': encoding }).end(encode(body)),
    ])
    expect(await api.get('users', users)).toMatchObject({ status: 'data', data: [] })
  })
})
