import { describe, expect, test } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import type { CallTarget } from '../../src/core/service/errors.ts'
import { ServiceHealth } from '../../src/core/service/health.ts'
import { NO_RATE_LIMIT } from '../../src/core/service/wait.ts'

const target: CallTarget = { operation: 'users', filter: { organizationId: 'o' }, secrets: [] }

const healthOf = () =>
  new ServiceHealth({
    retryAfterMaxMs: 120_000,
    throttledMaxMs: 900_000,
    sharedRateLimit: NO_RATE_LIMIT,
  })

describe('a refused token', () => {
  const refused = new CallError('refused', { kind: 'credentials', httpStatus: 401 })

  test('is not sent again, and another token is', () => {
    const health = healthOf()
    health.check(target, 'old', 0)
    health.failed(refused, 'old', 0, 0)
    health.check(target, 'new', 0)
    expect(() => health.check(target, 'old', 60_000)).toThrow(refused)
  })

  test('is forgotten for a fresh start', () => {
    const health = healthOf()
    health.failed(refused, 'old', 0, 0)
    health.startAfresh()
    health.check(target, 'old', 0)
  })
})

describe('a service is away', () => {
  const error = new CallError('failed', { kind: 'retry', httpStatus: 503, errorStatus: 'NOPE' })

  test('when it has taken no call for a while and most calls wait for their next try', () => {
    const health = healthOf()
    const away = (inFlight: number, nowMs: number) => {
      const wait = health.waiting({ inFlight, waiting: 1 }, nowMs)
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
})
