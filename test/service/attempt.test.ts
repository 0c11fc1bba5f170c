import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { CallReport, CollabApiOptions } from '../../src/core/service/client.ts'
import { NO_RATE_LIMIT } from '../../src/core/service/shared-rate-limit.ts'
import { until } from '../helpers/until.ts'
import { bytes, held, json, neverAnswers, noStats, startClient, success } from './fault-server.ts'
import type { Fault } from './fault-server.ts'

const start = (script: Fault[], options: Partial<CollabApiOptions> = {}) =>
  startClient(script, { retries: 0, throttledMaxMs: 0, ...options })

const users = { organizationId: 'o' }
const ended = (call: Promise<unknown>) => call.then(String, (error: unknown) => error)

describe('each call that was made is reported with how it went', () => {
  test.each<[CallReport['outcome'], Fault]>([
    ['success', success([])],
    ['overload', json(429, {}, { 'retry-after': '0' })],
    ['overload', json(503, {})],
    ['timeout', neverAnswers],
    ['transient', json(500, {})],
    ['refused', json(400, {})],
    ['credentials', json(401, {})],
    ['unknown', json(200, { error: { status: 'ODD_ONE' } })],
  ])('%s', async (outcome, fault) => {
    const { api, reports } = await start([fault], outcome === 'timeout' ? { timeoutMs: 200 } : {})
    await ended(api.get('users', users))
    expect(reports).toEqual([
      {
        operation: 'users',
        outcome,
        isRetry: false,
        waitedMs: expect.any(Number),
        waitedThrottledMs: 0,
        serviceMs: expect.any(Number),
      },
    ])
    expect(reports[0]?.serviceMs).toBeGreaterThan(0)
  })

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

describe('what an answer says of the service holds for all calls', () => {
  test.each<[string, Fault, number[]]>([
    ['429 pauses all processes', json(429, {}), [250]],
    [
      '429 with Retry-After: so long, at most the limit',
      json(429, {}, { 'retry-after': '9' }),
      [50],
    ],
    ['429 with Retry-After 0: not at all', json(429, {}, { 'retry-after': '0' }), []],
    ['429 with its reset: until then', json(429, {}, { 'x-ratelimit-reset': '0.03' }), [30]],
    ['403 with Retry-After: so long', json(403, {}, { 'retry-after-ms': '20' }), [20]],
    ['503: not at all', json(503, {}), []],
  ])('%s', async (_what, fault, expected) => {
    const { api, pauses } = await start([fault])
    await ended(api.get('users', users))
    expect(pauses).toEqual(expected)
  })

  test('an overload lowers the calls in flight, another failure does not', async () => {
    const limits: number[] = []
    for (const fault of [json(500, {}), json(401, {}), json(503, {})]) {
      const { api } = await start([fault])
      await ended(api.get('users', users))
      limits.push(api.concurrency().limit)
    }
    expect(limits.map((limit) => limit < 8)).toEqual([false, false, true])
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

  test.each(['X-GZIP', 'identity'])('reads a body encoded by %s', async (encoding) => {
    const body = JSON.stringify({ result: { status: 'success', message: '', data: [] } })
    const sent = encoding === 'identity' ? body : gzipSync(body)
    const { api } = await start([
      (response) => response.writeHead(200, { 'content-encoding': encoding }).end(sent),
    ])
    expect(await api.get('users', users)).toMatchObject({ status: 'data', data: [] })
  })
})
