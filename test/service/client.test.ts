import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { CallError, DrainingError } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { RateLimiter } from '../../src/core/rate-limit/limiter.ts'
import type { RateLimitStore } from '../../src/core/rate-limit/limiter.ts'
import type { CollabApi } from '../../src/core/service/client.ts'
import { noCallStats } from '../../src/core/sync/counts.ts'
import { ownFolder } from '../helpers/own-folder.ts'
import { until } from '../helpers/until.ts'
import {
  held,
  json,
  openClient,
  openFaultServerAt,
  openPauses,
  startClient,
  success,
} from './fault-server.ts'
import type { Fault } from './fault-server.ts'
import { openSelfSignedServer } from './self-signed.ts'

const users = { organizationId: 'o' }
const comments = { organizationId: 'o', documentId: 'd', annotationId: 'a' }

describe('the two operations', () => {
  test('send what the document says, below a base address with a path and a slash', async () => {
    const { server } = await startClient([])
    const api = openClient(`${server.url}/base/`)
    await api.get('users', { organizationId: 'ö"/ ', userIds: ['u'] })
    await api.get('comments', { ...comments, commentIds: [Number.MAX_SAFE_INTEGER] })
    expect(server.seen.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      ['/base/v1/users/get', { data: { organizationId: 'ö"/ ', userIds: ['u'] } }],
      [
        '/base/v1/commentannotations/comments/get',
        { data: { ...comments, commentIds: [9007199254740991] } },
      ],
    ])
    expect(server.seen[0]?.headers).toMatchObject({
      'x-service-api-key': 'key-4711',
      'x-service-auth-token': 'token-0815',
    })
  })

  test('know the same bytes again by their digest', async () => {
    const { api } = await startClient([])
    const first = await api.get('users', users)
    const second = await api.get('users', users, { knownDigest: first.digest })
    expect([first.status, second.status]).toEqual(['data', 'unchanged'])
  })
})

describe('refused credentials', () => {
  function tokenFile(): string {
    const file = join(ownFolder(), 'token')
    writeFileSync(file, 'old-token\n')
    return file
  }

  const takesNewToken =
    (status: number): Fault =>
    (response, request) => {
      const isNew = request.headers['x-service-auth-token'] === 'new-token'
      const refusal = json(status, { error: { message: 'old-token is no good' } })
      ;(isNew ? success([]) : refusal)(response, request)
    }

  test.each([401, 403])(
    'of HTTP %d are healed by a changed token file, for all calls at once',
    async (status) => {
      const file = tokenFile()
      const { server, api } = await startClient([], {
        authToken: 'old-token',
        authTokenFile: file,
        retries: 0,
      })
      server.usually = takesNewToken(status)
      writeFileSync(file, 'new-token\n')
      const answers = await Promise.all(Array.from({ length: 8 }, () => api.get('users', users)))
      expect(answers.map((answer) => answer.status)).toEqual(
        Array.from({ length: 8 }, () => 'data'),
      )
      await api.get('users', users)
      expect(server.seen).toHaveLength(17)
    },
  )

  test('that are replaced close what the calls with the old token opened', async () => {
    const file = tokenFile()
    const { server, api } = await startClient([], {
      authToken: 'old-token',
      authTokenFile: file,
      retries: 0,
    })
    server.usually = takesNewToken(403)
    const ask = (documentId: string) => api.get('users', { organizationId: 'o', documentId })
    for (const documentId of ['1', '2', '3', '4', '5'])
      await expect(ask(documentId)).rejects.toThrow('HTTP 403')
    await expect(ask('6')).rejects.toMatchObject({ errorStatus: 'breaker_open' })
    writeFileSync(file, 'new-token\n')
    // The file is read at once because of a 401.
    server.usually = takesNewToken(401)
    expect((await api.get('comments', comments)).status).toBe('data')
    expect((await ask('6')).status).toBe('data')
  })

  test('fail after one call when the file is the same, without telling a secret', async () => {
    const { server, api } = await startClient([], {
      authToken: 'old-token',
      authTokenFile: tokenFile(),
    })
    server.usually = takesNewToken(401)
    const failed = api.get('users', users)
    await expect(failed).rejects.toMatchObject({ kind: 'credentials', httpStatus: 401 })
    await expect(failed).rejects.toThrow('[secret] is no good')
    await expect(failed).rejects.not.toThrow('old-token')
    expect(server.seen).toHaveLength(1)
  })
})

describe('a service that cannot be reached', () => {
  test('any more is waited for without using up retries, and the problem is reported', async () => {
    const reported: (string | null)[] = []
    const onReach = (problem: string | null) => void reported.push(problem)
    const { server, api } = await startClient([], { retries: 0, onReach })
    await api.get('users', users)
    await server.close()
    const call = api.get('users', users)
    await until('the problem is reported', () => reported.length === 1)
    expect(reported[0]).toMatch(
      /^The service cannot be reached \(.*ECONNREFUSED.*\): nothing listens/,
    )
    await openFaultServerAt(Number(new URL(server.url).port))
    expect((await call).status).toBe('data')
    expect(reported.slice(1)).toEqual([null])
  })

  test('for want of a trusted certificate is given up at once', async () => {
    const server = await openSelfSignedServer()
    const failed = openClient(server.url, { retries: 5 }).get('users', users)
    await expect(failed).rejects.toMatchObject({ kind: 'unreachable', attempts: 1 })
    await expect(failed).rejects.toThrow('DEPTH_ZERO_SELF_SIGNED_CERT')
  })
})

describe('a service that gets more calls than it takes', () => {
  const outcomes = async (api: CollabApi, calls: number) => {
    const ended = await Promise.allSettled(
      Array.from({ length: calls }, (_, n) => api.get('users', { organizationId: `o${n}` })),
    )
    return ended.map((end) => (end.status === 'fulfilled' ? 'answer' : (end.reason as CallError)))
  }

  test('by a quota that says nothing but 429 fails no call, and uses up no retry', async () => {
    const { server, api } = await startClient([], { retries: 0 })
    const startedAt = Date.now()
    let [turn, taken] = [0, 0]
    server.usually = (...call) => {
      const now = Math.floor((Date.now() - startedAt) / 500)
      if (now !== turn) [turn, taken] = [now, 0]
      taken += 1
      return (taken > 10 ? json(429, {}) : success([]))(...call)
    }
    expect(await outcomes(api, 40)).toEqual(Array.from({ length: 40 }, () => 'answer'))
  })

  test('for ever is given up, for the calls after it at once; the next run asks again', async () => {
    const { server, api } = await startClient([], { throttledMaxMs: 600 })
    server.usually = json(429, {})
    const failed = await outcomes(api, 40)
    expect(failed.filter((error) => !String(error).includes('SYNC_THROTTLED_MAX_MS'))).toEqual([])
    const skipped = failed.filter((error) => String(error).includes('skipped'))
    expect(skipped.length).toBeGreaterThan(20)
    expect(skipped[0]).toMatchObject({ kind: 'refused', errorStatus: 'throttled' })
    server.usually = success([])
    api.startAfresh()
    expect(await outcomes(api, 3)).toEqual(['answer', 'answer', 'answer'])
  })
})

describe('the pace of the client', () => {
  test('no more than the limit is in flight, and backing off holds no permit', async () => {
    const { fault, letGo } = held(success([]))
    const { server, api } = await startClient([], { concurrency: 3, retryAfterMaxMs: 60_000 })
    server.usually = fault
    const calls = Array.from({ length: 20 }, () => api.get('users', users))
    await until('three calls were seen', () => server.seen.length === 3)
    expect(api.concurrency()).toMatchObject({ inFlight: 3, waiting: 17 })
    letGo()
    await Promise.all(calls)
    expect(server.seen).toHaveLength(20)
    server.script.push(json(500, {}, { 'retry-after': '60' }))
    const stop = new AbortController()
    const backingOff = api.get('users', users, { signal: stop.signal })
    await until('the call was seen', () => server.seen.length === 21)
    await until('no call is in flight', () => api.concurrency().inFlight === 0)
    stop.abort(new Error('stopped by us'))
    await expect(backingOff).rejects.toThrow('stopped by us')
  })

  test('a signal ends a call wherever it waits, with its reason', async () => {
    const { server, api } = await startClient([], { concurrency: 1, retryAfterMaxMs: 60_000 })
    server.usually = json(429, {}, { 'retry-after': '60' })
    const stop = new AbortController()
    const calls = Array.from({ length: 30 }, () => api.get('users', users, { signal: stop.signal }))
    await until('a call was seen', () => server.seen.length === 1)
    stop.abort(new Error('stopped by us'))
    const ends = await Promise.allSettled(calls)
    expect(
      ends.map((end) => (end.status === 'rejected' ? end.reason.message : end.status)),
    ).toEqual(Array.from({ length: 30 }, () => 'stopped by us'))
    expect(api.concurrency()).toMatchObject({ inFlight: 0, waiting: 0 })
  })

  test('after close, calls are told so', async () => {
    const { api } = await startClient([])
    await api.close()
    await expect(api.get('users', users)).rejects.toThrow(DrainingError)
  })
})

describe('a pause that an operator ordered', () => {
  const pause = { since: new Date(), until: new Date(), by: 'ann', reason: null, ms: 3_600_000 }

  /** Lets everything happen that waits for no time and for no end of the pause. */
  const later = (limit: RateLimiter) => limit.resumed(AbortSignal.timeout(0))?.catch(() => {})

  test('holds a call before an open circuit refuses it', async () => {
    const limit = openPauses()
    const { api } = await startClient(Array(5).fill(json(403, {})), { sharedRateLimit: limit })
    const call = (name: string) => api.get('users', { ...users, userIds: [name] })
    for (const name of ['1', '2', '3', '4', '5']) await expect(call(name)).rejects.toThrow()
    await expect(call('6')).rejects.toMatchObject({ errorStatus: 'breaker_open' })
    limit.operatorPause.apply(pause)
    let isOver = false
    const seventh = call('7').finally(() => (isOver = true))
    seventh.catch(() => {})
    await later(limit)
    expect(isOver).toBe(false)
    limit.operatorPause.apply(null)
    await expect(seventh).rejects.toMatchObject({ errorStatus: 'breaker_open' })
  })

  test('is no wait for a slot', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const slots: (() => void)[] = []
    const store: RateLimitStore = {
      server: 'Redis',
      take: () =>
        new Promise((resolve) => void slots.push(() => resolve({ pauseMs: 0, waitMs: 0 }))),
      pause: async () => {},
      pauseMs: async () => 0,
    }
    const limit = new RateLimiter(store, { callsPerSecond: 5, log: createLog('silent') })
    const { api } = await startClient([], { sharedRateLimit: limit })
    const stats = noCallStats()
    const call = api.get('users', users, { stats })
    await until('the call waits for its slot', () => slots.length === 1)
    vi.advanceTimersByTime(1_000)
    limit.operatorPause.apply(pause)
    slots[0]?.()
    await later(limit)
    vi.advanceTimersByTime(30_000)
    limit.operatorPause.apply(null)
    await until('the slot in the pause is lost', () => slots.length === 2)
    slots[1]?.()
    await call
    expect(stats).toMatchObject({ waitedMs: 1_000, waitedThrottledMs: 0 })
  })
})
