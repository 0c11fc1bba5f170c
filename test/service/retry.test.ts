import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import type { FailureKind } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { RateLimiter } from '../../src/core/rate-limit/limiter.ts'
import type { RateLimitStore } from '../../src/core/rate-limit/limiter.ts'
import { ServiceHealth } from '../../src/core/service/health.ts'
import { retrying } from '../../src/core/service/retry.ts'
import { resetMsOf, retryAfterMsOf } from '../../src/core/service/request.ts'
import { NO_RATE_LIMIT } from '../../src/core/service/shared-rate-limit.ts'
import type { SharedRateLimit } from '../../src/core/service/shared-rate-limit.ts'

const policy = { retries: 3, retryAfterMaxMs: 120_000, throttledMaxMs: 900_000 }
/** Pauses that all processes were asked for, in milliseconds. */
const pauses: number[] = []
const sharedRateLimit: SharedRateLimit = {
  ...NO_RATE_LIMIT,
  acquire: () => null,
  pauseAll: async (ms) => void pauses.push(ms),
}
const healthOf = (onReach: (problem: string | null) => void = () => {}) =>
  new ServiceHealth({ ...policy, sharedRateLimit, onReach })
const noToken = { reread: async () => false, health: healthOf() }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** What a try gets: the answer, a failure of a kind, that of a connection with such a code, or another one. */
type Try = 'answer' | FailureKind | 'ECONNREFUSED' | 'ENOTFOUND' | 'CERT_HAS_EXPIRED' | Error

function failureOf(what: Exclude<Try, 'answer'>): Error {
  if (typeof what !== 'string') return what
  if (what === what.toLowerCase()) return new CallError('failed', { kind: what as FailureKind })
  const cause = Object.assign(new Error(`connect ${what}`), { code: what })
  return new CallError(`no answer (${what})`, { kind: 'unreachable', cause })
}

interface Made extends Partial<typeof policy> {
  readonly health?: ServiceHealth
  readonly hasNewToken?: boolean
  readonly signal?: AbortSignal
}

/** Makes a call whose tries get what the script says, its last again and again, and whose waits are over at once. */
const CREDENTIALS = { apiKey: 'key', authToken: 'token' }

async function made(
  script: readonly Try[],
  { health = healthOf(), hasNewToken = false, signal, ...own }: Made = {},
) {
  let tries = 0
  const attempt = async () => {
    const next = script[Math.min(tries, script.length - 1)] as Try
    tries += 1
    if (next === 'answer') return next
    const error = failureOf(next)
    if (error instanceof CallError && error.kind === 'unreachable')
      health.failed(error, CREDENTIALS, 0, 0)
    throw error
  }
  const shared = { reread: async () => hasNewToken, health }
  const ended = retrying(attempt, { ...policy, ...own }, shared, signal).catch((error) => error)
  await vi.runAllTimersAsync()
  return { tries, end: (await ended) as unknown }
}

const throttled = (retryAfterMs: number | null) =>
  new CallError('HTTP 429', { kind: 'throttled', httpStatus: 429, retryAfterMs })

/** The service, or a proxy in its place, answers with a status. */
const answered = (health: ServiceHealth, httpStatus: number) =>
  health.failed(new CallError('failed', { kind: 'refused', httpStatus }), CREDENTIALS, 0, 0)

describe('trying again', () => {
  test.each<[script: Try[], of: Made, tries: number, kind: FailureKind | null]>([
    // A changed token is tried once, even without retries, and that try is none of the others.
    [['credentials', 'answer'], { retries: 0, hasNewToken: true }, 2, null],
    [['credentials'], { retries: 0, hasNewToken: true }, 2, 'credentials'],
    [['credentials', 'retry'], { retries: 2, hasNewToken: true }, 4, 'retry'],
    // An address that no call ever reached is given up.
    [['ECONNREFUSED'], { retries: 5 }, 6, 'unreachable'],
    // Who is throttled waits, and uses up no retry.
    [[...Array<Try>(40).fill('throttled'), 'answer'], { retries: 0 }, 41, null],
  ])('%j with %j: %d tries, then %s', async (script, of, tries, kind) => {
    const end = kind === null ? 'answer' : expect.objectContaining({ kind, attempts: tries })
    expect(await made(script, of)).toEqual({ tries, end })
  })

  test('is not begun where the signal has aborted', async () => {
    const reason = new Error('stopped before')
    const signal = AbortSignal.abort(reason)
    expect(await made(['retry'], { signal })).toEqual({ tries: 0, end: reason })
  })

  test('an error that is not a CallError is thrown at once', async () => {
    const fault = new RangeError('a fault of ours')
    expect(await made([fault])).toEqual({ tries: 1, end: fault })
    expect(fault).not.toHaveProperty('attempts')
  })

  test('a long wait ends when the signal aborts, with its reason', async () => {
    const stop = new AbortController()
    const health = healthOf()
    const waits = () => health.waiting({ permits: 0, waiting: 0 }, Infinity)
    let tries = 0
    const attempt = async (): Promise<never> => {
      tries += 1
      throw throttled(100_000)
    }
    const stopped = expect(
      retrying(attempt, policy, { ...noToken, health }, stop.signal),
    ).rejects.toThrow('stopped by us')
    await vi.advanceTimersByTimeAsync(99_999)
    expect(waits()).toMatchObject({ kind: 'away' })
    stop.abort(new Error('stopped by us'))
    await stopped
    expect(waits()).toBeNull()
    expect([tries, vi.getTimerCount()]).toEqual([1, 0])
  })

  test('a response that comes after the signal aborted is taken', async () => {
    const stop = new AbortController()
    let tries = 0
    const attempt = async (): Promise<string> => {
      tries += 1
      if (tries === 1) throw failureOf('retry')
      stop.abort(new Error('stopped by us'))
      return 'response'
    }
    const call = retrying(attempt, policy, noToken, stop.signal)
    await vi.runAllTimersAsync()
    expect(await call).toBe('response')
  })
})

describe('a call that does not reach the service', () => {
  test('fails its scope alone while too few tries were made to judge the address', async () => {
    const once = { retries: 0, health: healthOf() }
    for (const kind of ['retry', 'retry', 'retry', 'retry', 'unreachable'])
      expect((await made(['ENOTFOUND'], once)).end).toMatchObject({ kind })
  })

  test.each(['ECONNREFUSED', 'CERT_HAS_EXPIRED'] as const)(
    'by %s waits for it where it was reached before, whatever a proxy answers for it, and uses up no retry',
    async (code) => {
      const reported: (string | null)[] = []
      const health = healthOf((problem) => reported.push(problem))
      answered(health, 404)
      const script = [...Array<Try>(30).fill(code), 'answer' as const]
      expect(await made(script, { retries: 0, health })).toEqual({ tries: 31, end: 'answer' })
      for (const status of [407, 500, 502, 503, 504]) answered(health, status)
      expect(reported).toEqual([expect.stringContaining(`cannot be reached (connect ${code}): `)])
      health.succeeded(0)
      expect(reported).toHaveLength(2)
      expect(reported[1]).toBeNull()
    },
  )

  test('is given up when it waited long enough', async () => {
    const health = healthOf()
    health.succeeded(0)
    const short = { retries: 0, throttledMaxMs: 100_000, health }
    const { tries, end } = await made(['ECONNREFUSED'], short)
    expect(end).toMatchObject({
      message: 'no answer (ECONNREFUSED); given up after 100 s of it (SYNC_THROTTLED_MAX_MS)',
      kind: 'unreachable',
    })
    // 0.25 s, doubled to 30 s, and a jitter of 0.25 s each.
    expect(tries).toBeGreaterThanOrEqual(8)
  })

  test('is not taken for an answer by what a proxy says for it', async () => {
    const health = healthOf()
    for (const status of [407, 500, 502, 503, 504]) answered(health, status)
    expect(health.wasReached).toBe(false)
    answered(health, 401)
    expect(health.wasReached).toBe(true)
  })
})

describe('a call that was throttled', () => {
  test('counts the wait for its next try as throttled, and no other wait', async () => {
    const waits: boolean[] = []
    const kinds: FailureKind[] = ['throttled', 'retry']
    const attempt = async (_number: number, throttledMs: number): Promise<void> => {
      waits.push(throttledMs > 0)
      const kind = kinds.shift()
      if (kind !== undefined) throw new CallError('failed', { kind, retryAfterMs: 1000 })
    }
    const call = retrying(attempt, policy, noToken)
    await vi.runAllTimersAsync()
    await call
    expect(waits).toEqual([false, true, false])
  })

  test('is given up when the service asked for it long enough, and told so', async () => {
    // The second asks for a longer wait than is allowed.
    for (const retryAfterMs of [60_000, 10 ** 9]) {
      const limits = { throttledMaxMs: 150_000, retryAfterMaxMs: 60_000 }
      const { tries, end } = await made([throttled(retryAfterMs)], limits)
      expect([tries, end]).toMatchObject([
        4,
        {
          message: 'HTTP 429; given up after 150 s of it (SYNC_THROTTLED_MAX_MS)',
          kind: 'throttled',
          attempts: 4,
        },
      ])
    }
  })

  test('pauses all for as long as the service says, or longer with each pause that did not help', () => {
    const health = healthOf()
    const paused = (retryAfterMs: number | null, sentAtMs: number, nowMs: number): number => {
      health.failed(throttled(retryAfterMs), CREDENTIALS, sentAtMs, nowMs)
      return pauses.pop() ?? 0
    }
    expect(paused(null, 0, 10)).toBe(250)
    // Sent before that pause, so of the same episode.
    expect([paused(null, 5, 12), paused(300, 6, 13)]).toEqual([0, 300])
    expect([paused(null, 320, 330), paused(null, 900, 910)]).toEqual([500, 1000])
    // An answer to a call of before says nothing new; one of after does.
    health.succeeded(900)
    expect(paused(1000, 2000, 2010)).toBe(2000)
    health.succeeded(2010)
    expect(paused(100, 3000, 3010)).toBe(100)
    health.startAfresh()
    expect(paused(10 ** 9, 4000, 4010)).toBe(policy.retryAfterMaxMs)
    for (let ms = 10_000; ms < 20_000; ms += 1000) paused(null, ms, ms)
    expect(paused(0, 30_000, 30_000)).toBe(30_000)
  })

  test('fails the calls after it at once when none was taken for too long, but after each pause', () => {
    const health = healthOf()
    const fail = (retryAfterMs: number | null, sentAtMs: number, nowMs: number) =>
      health.failed(throttled(retryAfterMs), CREDENTIALS, sentAtMs, nowMs)
    const check = (nowMs: number) =>
      health.check(
        { operation: 'users', filter: { organizationId: 'o' }, secrets: [] },
        CREDENTIALS,
        nowMs,
      )
    fail(null, 0, 0)
    // No pause goes beyond the end.
    fail(60_000, 899_000, 899_000)
    expect(pauses.pop()).toBe(1000)
    check(899_999)
    check(900_000)
    fail(30_000, 900_000, 900_001)
    expect(() => check(900_001)).toThrow(
      'Get Users of organizationId "o" failed: skipped: the service has throttled every call for more than 900 s (SYNC_THROTTLED_MAX_MS)',
    )
    expect(() => check(930_000)).toThrow(CallError)
    check(930_001)
    fail(30_000, 930_001, 930_002)
    expect(() => check(930_002)).toThrow(CallError)
    health.succeeded(930_002)
    check(930_003)
  })
})

describe('Retry-After', () => {
  const date = 'Wed, 21 Oct 2015 07:28:00 GMT'

  test.each([
    ['3', 3000],
    [' 1.5 ', 1500],
    ['3 or so', null],
    ['Wednesday, 21-Oct-15 07:28:30 GMT', 30_000],
    ['21 Oct 2015 07:28:30 GMT', null],
    ['Wed, 21 Oct 2015 07:28:30 GMT', 30_000],
    ['Wed, 21 Oct 2015 07:27:00 GMT', 0],
    ['-5', null],
    ['', null],
    ['Someday, maybe', null],
  ])('%j is %s ms', (text, ms) => {
    expect(retryAfterMsOf({ 'retry-after': text, date })).toBe(ms)
  })

  test.each([undefined, 'today'])('a date is counted from the clock where Date is %j', (sent) => {
    vi.setSystemTime(date)
    const headers = { 'retry-after': 'Wed, 21 Oct 2015 08:28:00 GMT', ...(sent && { date: sent }) }
    expect(retryAfterMsOf(headers)).toBe(3_600_000)
  })

  test('no header is null, and milliseconds are more exact', () => {
    expect(retryAfterMsOf({ date })).toBeNull()
    expect(retryAfterMsOf({ 'retry-after-ms': '1250', 'retry-after': '2', date })).toBe(1250)
    expect(retryAfterMsOf({ 'retry-after-ms': 'soon', 'retry-after': '2', date })).toBe(2000)
  })

  test.each([
    ['30', 30_000],
    ['1445412510', 30_000],
    ['1445412510000', 30_000],
    ['1445412400', 0],
    ['6m0s', null],
    ['', null],
  ])('a quota that begins anew at %j does so in %s ms', (reset, ms) => {
    expect(resetMsOf({ 'x-ratelimit-reset': reset, date })).toBe(ms)
    expect(resetMsOf({ 'ratelimit-reset': reset, date })).toBe(ms)
  })
})

test('an operator who pauses the calls uses up no patience', async () => {
  const log = createLog('silent')
  const limit = new RateLimiter({} as RateLimitStore, { callsPerSecond: null, log })
  const health = new ServiceHealth({ ...policy, sharedRateLimit: limit })
  const { throttledMaxMs } = policy
  let tries = 0
  const attempt = async () => {
    tries += 1
    if (tries === 3) return 'answer'
    if (tries === 1) {
      const pause = { since: new Date(), until: new Date(), by: 'ann', reason: null }
      limit.operatorPause.apply({ ...pause, ms: 2 * throttledMaxMs })
    }
    await limit.resumed()
    throw new CallError('failed', { kind: 'throttled' })
  }
  const ended = retrying(attempt, policy, { ...noToken, health }).catch((error) => error)
  await vi.runAllTimersAsync()
  expect([await ended, tries]).toEqual(['answer', 3])
})
