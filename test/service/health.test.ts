import { expect, test } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import { ServiceHealth } from '../../src/core/service/health.ts'
import { NO_RATE_LIMIT } from '../../src/core/service/shared-rate-limit.ts'
import type { RateLimitSnapshot } from '../../src/core/service/shared-rate-limit.ts'

const error = new CallError('failed', { kind: 'retry', httpStatus: 503, errorStatus: 'NOPE' })

test('a service is away when it has taken no call for a while and most calls wait for their next try', () => {
  const options = { retryAfterMaxMs: 120_000, throttledMaxMs: 900_000 }
  const health = new ServiceHealth({ ...options, sharedRateLimit: NO_RATE_LIMIT })
  const away = (permits: number, nowMs: number) => {
    const wait = health.waiting({ permits, waiting: 1 }, nowMs)
    if (wait !== null) expect(wait).toMatchObject({ kind: 'away', givesUpAt: null, error })
    return wait?.since?.getTime() ?? null
  }
  health.beginWait(error, 1_000)
  health.beginWait(error, 2_000)
  expect(away(0, 5_999)).toBeNull()
  const since = away(0, 6_000)
  expect(since).not.toBeNull()
  expect(away(1, 6_000)).not.toBeNull()
  expect(away(2, 6_000)).toBeNull()
  health.endWait()
  health.endWait()
  expect(away(0, 6_000)).toBeNull()
  health.beginWait(error, 7_000)
  expect(away(0, 7_000)).not.toBeNull()
  health.startAfresh()
  expect(away(0, 7_000)).toBeNull()
})

test('calls wait for the store of the rate limit once it has not responded for a heartbeat, unless a pause lasts', () => {
  const pause = { pausedForMs: 6_000, leftMs: 3_000 }
  const waits = (silentForMs: number, found: Partial<RateLimitSnapshot>) => {
    const silent = { server: 'Redis', silentForMs }
    const snapshot = {
      ...NO_RATE_LIMIT.snapshot(),
      callsPerSecond: 5,
      waiting: 2,
      silent,
      ...found,
    }
    const sharedRateLimit = { ...NO_RATE_LIMIT, snapshot: () => snapshot }
    const health = new ServiceHealth({ retryAfterMaxMs: 1, throttledMaxMs: 1, sharedRateLimit })
    return health.waiting({ permits: 2, waiting: 0 }, health.now())
  }
  expect(waits(4_999, {})).toMatchObject({ kind: 'rate_limit' })
  expect(waits(5_000, {})).toMatchObject({ kind: 'rate_limit_store', server: 'Redis' })
  expect(waits(5_000, { callsPerSecond: null })).toMatchObject({ kind: 'rate_limit_store' })
  expect(waits(5_000, { pause })).toMatchObject({ kind: 'throttled' })
  expect(waits(5_000, { silent: null })).toMatchObject({ kind: 'rate_limit' })
})
