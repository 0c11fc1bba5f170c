import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CallError } from '../../src/errors.ts'
import type { FailureKind } from '../../src/errors.ts'
import { backoffMs, pauseMs, retrying } from '../../src/service/retry.ts'
import { retryAfterMsOf } from '../../src/service/wait.ts'

const policy = { retries: 3, retryAfterMaxMs: 120_000 }
const noToken = async (): Promise<boolean> => false

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

  test('without retries, one try is all', async () => {
    const call = failing('retry')
    await expect(retryingAtOnce(call.attempt, { ...policy, retries: 0 }, noToken)).rejects.toThrow()
    expect(call.made()).toBe(1)
  })

  test('a success after failures is the answer', async () => {
    const call = failing('retry', 2)
    expect(await retryingAtOnce(call.attempt, policy, noToken)).toBe('answer')
  })

  test('a changed token is tried once, even without retries, and only once', async () => {
    const healed = failing('credentials', 1)
    const once = { ...policy, retries: 0 }
    expect(await retryingAtOnce(healed.attempt, once, async () => true)).toBe('answer')
    const refused = failing('credentials')
    await expect(retryingAtOnce(refused.attempt, once, async () => true)).rejects.toThrow()
    expect(refused.made()).toBe(2)
  })

  test('of a refusal that heals, its try is none of the others', async () => {
    const kinds: FailureKind[] = ['credentials', 'retry', 'retry', 'retry']
    let made = 0
    const attempt = async (): Promise<never> => {
      made += 1
      throw new CallError('failed', { kind: kinds[made - 1] ?? 'refused' })
    }
    const failed = retryingAtOnce(attempt, { ...policy, retries: 2 }, async () => true)
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
    let made = 0
    const attempt = async (): Promise<never> => {
      made += 1
      throw new CallError('busy', { kind: 'retry', retryAfterMs: 100_000 })
    }
    const stopped = expect(retrying(attempt, policy, noToken, stop.signal)).rejects.toThrow(
      'stopped by us',
    )
    await vi.advanceTimersByTimeAsync(99_999)
    stop.abort(new Error('stopped by us'))
    await stopped
    expect([made, vi.getTimerCount()]).toEqual([1, 0])
  })
})

describe('how long to wait', () => {
  test('full jitter doubles its upper edge from 250 ms up to 30 s', () => {
    expect([1, 2, 3, 20].map((n) => backoffMs(n, null, policy, 1))).toEqual([
      250, 500, 1000, 30_000,
    ])
    expect(backoffMs(5, null, policy, 0)).toBe(0)
  })

  test('Retry-After is the least, up to its cap, and never shortens the wait', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (failures, retryAfterMs, random) => {
          const ms = backoffMs(failures, retryAfterMs, policy, random)
          expect(ms).toBeGreaterThanOrEqual(Math.min(retryAfterMs, policy.retryAfterMaxMs))
          expect(ms).toBeGreaterThanOrEqual(backoffMs(failures, null, policy, random))
          expect(ms).toBeLessThanOrEqual(policy.retryAfterMaxMs)
        },
      ),
    )
  })

  test('all processes pause for a 429, and for a 503 that says how long', () => {
    const of = (httpStatus: number, retryAfterMs: number | null): number =>
      pauseMs(new CallError('busy', { kind: 'retry', httpStatus, retryAfterMs }), policy)
    expect(of(429, 5000)).toBe(5000)
    expect(of(429, 10 ** 9)).toBe(policy.retryAfterMaxMs)
    expect(of(429, null)).toBe(250)
    expect(of(503, 5000)).toBe(5000)
    expect(of(503, null)).toBe(0)
  })
})

describe('Retry-After', () => {
  const date = 'Wed, 21 Oct 2015 07:28:00 GMT'

  test.each([
    ['3', 3000],
    ['0', 0],
    [' 1.5 ', 1500],
    ['1.25', 1250],
    ['3 or so', null],
    ['Wednesday, 21-Oct-15 07:28:30 GMT', 30_000],
    ['Wed 21 Oct 2015 07:28:30 GMT', 30_000],
    ['Oct 21 2015 07:28:30 GMT', 30_000],
    ['21 Oct 2015 07:28:30 GMT', null],
    ['a Wed, 21 Oct 2015 07:28:30 GMT', null],
    ['99999999999', 99999999999000],
    ['Wed, 21 Oct 2015 07:28:30 GMT', 30_000],
    ['Wed, 21 Oct 2015 07:27:00 GMT', 0],
    ['-5', null],
    ['soon', null],
    ['', null],
    ['Someday, maybe', null],
  ])('%j is %s ms', (text, ms) => {
    expect(retryAfterMsOf(text, date)).toBe(ms)
  })

  test('a date without a Date header is counted from the clock of this machine', () => {
    vi.setSystemTime(date)
    expect(retryAfterMsOf('Wed, 21 Oct 2015 08:28:00 GMT', undefined)).toBe(3_600_000)
  })

  test('a date beside a Date header that cannot be read is counted from the clock too', () => {
    vi.setSystemTime(date)
    expect(retryAfterMsOf('Wed, 21 Oct 2015 08:28:00 GMT', 'today')).toBe(3_600_000)
  })

  test('no header is null', () => {
    expect(retryAfterMsOf(undefined, date)).toBeNull()
  })
})
