import { describe, expect, test } from 'vitest'
import { createLog } from '../../src/log.ts'
import { openProcessRateLimit } from '../../src/rate-limit/limiter.ts'
import { callFor, mostInOneSecond, untilUsed } from './shared-limit-suite.ts'

const log = createLog('silent')

describe('the pace of one process', () => {
  test('holds its limit in any second, and can use it', async () => {
    const pace = openProcessRateLimit({ callsPerSecond: 100, log })
    await untilUsed(75, async () => {
      const times = await callFor([pace], 2000)
      expect(mostInOneSecond(times)).toBeLessThanOrEqual(120)
      return times.length / 2
    })
    await pace.close()
  })

  test('without a limit lets everybody go, but for a pause', async () => {
    const pace = openProcessRateLimit({ callsPerSecond: null, log })
    await Promise.all(Array.from({ length: 10_000 }, () => pace.acquire()))
    const until = performance.now() + 200
    void pace.pauseAll(200)
    void pace.pauseAll(10)
    await Promise.all([pace.acquire(), pace.acquire()])
    expect(performance.now()).toBeGreaterThan(until - 20)
    await pace.close()
  })
})
