import { expect, test } from 'vitest'
import { DrainingError } from '../../src/errors.ts'
import { createLog } from '../../src/log.ts'
import type { RateLimitOptions } from '../../src/rate-limit/limiter.ts'
import type { SharedRateLimit } from '../../src/service/attempt.ts'

/** Opens the pace of one more process, on what the others share. */
export type OpenOne = (options: RateLimitOptions) => SharedRateLimit

/** What holds for every pace that several processes share. */
export function sharedLimitSuite(openOne: () => OpenOne): void {
  function open(count: number, callsPerSecond: number | null): SharedRateLimit[] {
    const one = openOne()
    return Array.from({ length: count }, () => one({ callsPerSecond, log: createLog('silent') }))
  }

  test('a limit spaces the calls of all', async () => {
    const startMs = Date.now()
    const paces = open(3, 100)
    await Promise.all(paces.flatMap((pace) => Array.from({ length: 8 }, () => pace.acquire())))
    // A delay of 50 ms may be made up for; the rest takes a hundredth of a second each.
    expect(Date.now() - startMs).toBeGreaterThanOrEqual(150)
    await closeAll(paces)
  })

  test('an own pause holds at once, also for those in the line', async () => {
    const [pace] = open(1, 100) as [SharedRateLimit]
    const startMs = Date.now()
    const waiting = Array.from({ length: 5 }, () => pace.acquire().then(() => Date.now()))
    void pace.pauseAll(300)
    const times = await Promise.all(waiting)
    expect(Math.min(...times) - startMs).toBeGreaterThanOrEqual(280)
    await pace.close()
  })

  test('who gives up leaves the line with the reason of the signal', async () => {
    const [pace] = open(1, 1) as [SharedRateLimit]
    await pace.acquire()
    const stop = new AbortController()
    const waiting = pace.acquire(stop.signal)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await pace.close()
  })

  test('closing sends away who waits', async () => {
    const [pace] = open(1, 1) as [SharedRateLimit]
    await pace.acquire()
    const waiting = [pace.acquire(), pace.acquire()].map((wait) =>
      expect(wait).rejects.toThrow(DrainingError),
    )
    await pace.close()
    await Promise.all(waiting)
    await expect(pace.acquire()).rejects.toThrow(DrainingError)
  })
}

async function closeAll(paces: SharedRateLimit[]): Promise<void> {
  await Promise.all(paces.map((pace) => pace.close()))
}
