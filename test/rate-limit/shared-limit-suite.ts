import { expect, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import type { RateLimitOptions } from '../../src/core/rate-limit/limiter.ts'
import type { SharedRateLimit } from '../../src/core/service/wait.ts'
import { until } from '../helpers/until.ts'

/** Opens the limit of one more process, on what the others share. */
export type OpenOne = (options: RateLimitOptions) => SharedRateLimit

/**
 * What holds for every limit that several processes share. A real clock tells the least that something takes.
 * @param openOne opens what a few limits share
 * @param nextOf how far its next free slot is away, in milliseconds, by the clock of the store
 */
export function sharedLimitSuite(openOne: () => OpenOne, nextOf: () => Promise<number>): void {
  async function withTwo(test: (limits: SharedRateLimit[]) => Promise<void>): Promise<void> {
    const one = openOne()
    const limits = [1, 2].map(() => one({ callsPerSecond: 100, log: createLog('silent') }))
    await test(limits)
    await Promise.all(limits.map((limit) => limit.close()))
  }

  test('two processes keep one rate', () =>
    withTwo(async (limits) => {
      const fromMs = Date.now()
      const calls = Array.from({ length: 20 }, () => limits.map((limit) => limit.acquire()))
      await Promise.all(calls.flat())
      // 50 ms may be made up for.
      expect(Date.now() - fromMs).toBeGreaterThanOrEqual(390 - 50)
    }))

  test('sixteen processes that make a call every ten seconds wait for one slot each', async () => {
    const one = openOne()
    const log = createLog('silent')
    const limits = Array.from({ length: 16 }, () => one({ callsPerSecond: 0.1, log }))
    const calls = limits.map((limit) => limit.acquire())
    // The slots after a minute are no further away than so many processes put them.
    await until('all have a slot', async () => (await nextOf()) > 15 * 10_000)
    await Promise.all(limits.map((limit) => limit.close()))
    await Promise.allSettled(calls)
  })

  test('a pause of one is heard by the other', () =>
    withTwo(async ([first, second]) => {
      const fromMs = Date.now()
      await first?.pauseAll(300)
      await second?.acquire()
      // A timer may be a millisecond early.
      expect(Date.now() - fromMs).toBeGreaterThanOrEqual(300 - 2)
    }))
}
