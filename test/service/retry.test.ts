import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import type { FailureKind } from '../../src/base/errors.ts'
import { ServiceHealth } from '../../src/core/service/health.ts'
import { retrying } from '../../src/core/service/retry.ts'
import { resetMsOf, retryAfterMsOf } from '../../src/core/service/request.ts'
import { NO_RATE_LIMIT } from '../../src/core/service/wait.ts'
import type { SharedRateLimit } from '../../src/core/service/wait.ts'

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
const newToken = { ...noToken, reread: async () => true }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** `retrying`, whose waits are over at once. */
async function retryingAtOnce<T>(...of: Parameters<typeof retrying<T>>): Promise<T> {
  const call = retrying(...of)
  // Whoever asked hears of its failure later than the clock is moved.
  call.catch(() => {})
  await vi.runAllTimersAsync()
  return call
}

function failing(
  kind: FailureKind,
  times = Infinity,
): { attempt: () => Promise<string>; made(): number } {
  let made = 0
  return {
    made: () => made,
    async attempt() {
      made += 1
      if (made > times) return 'answer'
      throw new CallError('failed', { kind })
    },
  }
}

describe('trying again', () => {
  test.each([
    ['retry', 3],
    ['unknown', 3],
    ['refused', 1],
    ['credentials', 1],
  ] as const)('a failure of kind %s is tried %d times with two retries', async (kind, tries) => {
    const call = failing(kind)
    const failed = retryingAtOnce(call.attempt, { ...policy, retries: 2 }, noToken)
    await expect(failed).rejects.toMatchObject({ kind, attempts: tries })
    expect(call.made()).toBe(tries)
  })

  test('an unknown failure is tried twice more at most, however many retries are set', async () => {
    const call = failing('unknown')
    const failed = retryingAtOnce(call.attempt, { ...policy, retries: 9 }, noToken)
    await expect(failed).rejects.toMatchObject({ attempts: 3 })
  })

  test('a changed token is tried once, even without retries, and only once', async () => {
    const healed = failing('credentials', 1)
    const once = { ...policy, retries: 0 }
    expect(await retryingAtOnce(healed.attempt, once, newToken)).toBe('answer')
    const refused = failing('credentials')
    await expect(retryingAtOnce(refused.attempt, once, newToken)).rejects.toThrow()
    expect(refused.made()).toBe(2)
  })

  test('of a refusal that heals, its try is none of the others', async () => {
    const kinds: FailureKind[] = ['credentials', 'retry', 'retry', 'retry']
    let made = 0
    const attempt = async (): Promise<never> => {
      made += 1
      throw new CallError('failed', { kind: kinds[made - 1] ?? 'refused' })
    }
    const failed = retryingAtOnce(attempt, { ...policy, retries: 2 }, newToken)
    await expect(failed).rejects.toMatchObject({ kind: 'retry', attempts: 4 })
    expect(made).toBe(4)
  })

  test('is not begun where the signal has aborted', async () => {
    const call = failing('retry')
    const stopped = AbortSignal.abort(new Error('stopped before'))
    await expect(retryingAtOnce(call.attempt, policy, noToken, stopped)).rejects.toThrow(
      'stopped before',
    )
    expect(call.made()).toBe(0)
  })

  test('an error that is not a CallError is thrown at once', async () => {
    let made = 0
    const attempt = async (): Promise<never> => {
      made += 1
      throw new RangeError('a fault of ours')
    }
    const fault = retryingAtOnce(attempt, policy, noToken)
    await expect(fault).rejects.toThrow(RangeError)
    await expect(fault).rejects.not.toHaveProperty('attempts')
    expect(made).toBe(1)
  })

  test('a long wait ends when the signal aborts, with its reason', async () => {
    const stop = new AbortController()
    const health = healthOf()
    const waits = () => health.waiting({ permits: 0, waiting: 0 }, Infinity)
    let made = 0
    const attempt = async (): Promise<never> => {
      made += 1
      throw new CallError('busy', { kind: 'throttled', retryAfterMs: 100_000 })
    }
    const stopped = expect(
      retrying(attempt, policy, { ...noToken, health }, stop.signal),
    ).rejects.toThrow('stopped by us')
    await vi.advanceTimersByTimeAsync(99_999)
    expect(waits()).toMatchObject({ kind: 'away' })
    stop.abort(new Error('stopped by us'))
    await stopped
    expect(waits()).toBeNull()
    expect([made, vi.getTimerCount()]).toEqual([1, 0])
  })
})

describe('a call that does not reach the service', () => {
  const failedBy = (code: string) =>
    new CallError(`no answer (${code})`, {
      kind: 'unreachable',
      cause: Object.assign(new Error(`connect ${code}`), { code }),
    })
  /** The service, or a proxy in its place, answers with a status. */
  const answered = (health: ServiceHealth, httpStatus: number) =>
    health.failed(new CallError('failed', { kind: 'refused', httpStatus }), 'token', 0, 0)
  /** Fails so often, then answers. */
  const unreachable = (code: string, times = Infinity, health = healthOf()) => {
    let made = 0
    return {
      made: () => made,
      shared: { ...noToken, health },
      async attempt() {
        made += 1
        if (made > times) return 'answer'
        const error = failedBy(code)
        health.failed(error, 'token', 0, 0)
        throw error
      },
    }
  }

  test('uses up its retries where no call ever reached it, and is then given up for every call', async () => {
    const { attempt, made, shared } = unreachable('ECONNREFUSED')
    const failed = retryingAtOnce(attempt, { ...policy, retries: 5 }, shared)
    await expect(failed).rejects.toMatchObject({ kind: 'unreachable', attempts: 6 })
    expect(made()).toBe(6)
  })

  test('fails its scope alone while too few tries were made to judge the address', async () => {
    const { attempt, shared } = unreachable('ENOTFOUND')
    const once = { ...policy, retries: 0 }
    for (const kind of ['retry', 'retry', 'retry', 'retry', 'unreachable'])
      await expect(retryingAtOnce(attempt, once, shared)).rejects.toMatchObject({ kind })
  })

  test.each(['ECONNREFUSED', 'CERT_HAS_EXPIRED'])(
    'by %s waits for it where it was reached before, whatever a proxy answers for it, and uses up no retry',
    async (code) => {
      const reported: (string | null)[] = []
      const health = healthOf((problem) => reported.push(problem))
      answered(health, 404)
      const { attempt, shared } = unreachable(code, 30, health)
      expect(await retryingAtOnce(attempt, { ...policy, retries: 0 }, shared)).toBe('answer')
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
    const { attempt, made, shared } = unreachable('ECONNREFUSED', Infinity, health)
    const short = { ...policy, retries: 0, throttledMaxMs: 100_000 }
    await expect(retryingAtOnce(attempt, short, shared)).rejects.toMatchObject({
      message: 'no answer (ECONNREFUSED); given up after 100 s of it (SYNC_THROTTLED_MAX_MS)',
      kind: 'unreachable',
    })
    // 0.25 s, doubled to 30 s, and a jitter of 0.25 s each.
    expect(made()).toBeGreaterThanOrEqual(8)
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
  const throttled = (retryAfterMs: number | null) =>
    new CallError('HTTP 429', { kind: 'throttled', httpStatus: 429, retryAfterMs })

  test('is made again, without retries too, and uses up none of them', async () => {
    const call = failing('throttled', 40)
    const none = { ...policy, retries: 0 }
    expect(await retryingAtOnce(call.attempt, none, noToken)).toBe('answer')
    expect(call.made()).toBe(41)
  })

  test('counts the wait for its next try as throttled, and no other wait', async () => {
    const waits: boolean[] = []
    const kinds: FailureKind[] = ['throttled', 'retry']
    const attempt = async (_number: number, throttledMs: number): Promise<void> => {
      waits.push(throttledMs > 0)
      const kind = kinds.shift()
      if (kind !== undefined) throw new CallError('failed', { kind, retryAfterMs: 1000 })
    }
    await retryingAtOnce(attempt, policy, noToken)
    expect(waits).toEqual([false, true, false])
  })

  test('is given up when the service asked for it long enough, and told so', async () => {
    let made = 0
    const attempt = async (): Promise<never> => {
      made += 1
      throw throttled(60_000)
    }
    const short = { ...policy, throttledMaxMs: 150_000 }
    await expect(retryingAtOnce(attempt, short, noToken)).rejects.toMatchObject({
      message: 'HTTP 429; given up after 150 s of it (SYNC_THROTTLED_MAX_MS)',
      kind: 'throttled',
      attempts: 4,
    })
    expect(made).toBe(4)
  })

  test('pauses all for as long as the service says, or longer with each pause that did not help', () => {
    const health = healthOf()
    const paused = (retryAfterMs: number | null, sentAtMs: number, nowMs: number): number => {
      health.failed(throttled(retryAfterMs), 'token', sentAtMs, nowMs)
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
      health.failed(throttled(retryAfterMs), 'token', sentAtMs, nowMs)
    const check = (nowMs: number) =>
      health.check(
        { operation: 'users', filter: { organizationId: 'o' }, secrets: [] },
        'token',
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

test('a response that comes after the signal aborted is taken', async () => {
  const stop = new AbortController()
  let made = 0
  const attempt = async (): Promise<string> => {
    made += 1
    if (made === 1) throw new CallError('failed', { kind: 'retry' })
    stop.abort(new Error('stopped by us'))
    return 'response'
  }
  expect(await retryingAtOnce(attempt, policy, noToken, stop.signal)).toBe('response')
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
