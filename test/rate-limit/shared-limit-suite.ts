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

  test.each([
    [40, 4000],
    [1000, 2000],
  ])(
    'three workers at %d calls a second hold it in any second, and can use it',
    async (limit, forMs) => {
      const paces = open(3, limit)
      await untilUsed(limit * 0.75, async () => {
        const times = await callFor(paces, forMs)
        expect(mostInOneSecond(times)).toBeLessThanOrEqual(limit * 1.2)
        return times.length / (((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000)
      })
      await closeAll(paces)
    },
  )

  test('a pause of one is heard by the others, with a limit and without', async () => {
    for (const limit of [500, null]) {
      const [first, second] = open(2, limit) as [SharedRateLimit, SharedRateLimit]
      await Promise.all([first.acquire(), second.acquire()])
      const until = performance.now() + 2500
      await first.pauseAll(2500)
      await sleepMs(1100)
      // Without a limit, the call that finds the news of the last second stale brings them.
      if (limit === null) await second.acquire()
      await sleepMs(100)
      await second.acquire()
      expect(performance.now()).toBeGreaterThan(until - 100)
      await closeAll([first, second])
    }
  }, 300_000)

  test('an own pause holds at once, also for those in the line', async () => {
    const [pace] = open(1, 100) as [SharedRateLimit]
    const until = performance.now() + 300
    const waiting = Array.from({ length: 5 }, () => pace.acquire().then(() => performance.now()))
    void pace.pauseAll(300)
    const times = await Promise.all(waiting)
    expect(Math.min(...times)).toBeGreaterThan(until - 20)
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

/**
 * Works until it reaches a rate: a machine that is busy with other things keeps it from that for a while, not for ever.
 * @param work answers how many calls a second it came to
 */
export async function untilUsed(
  callsPerSecond: number,
  work: () => Promise<number>,
): Promise<void> {
  const reached: number[] = []
  while (Math.max(0, ...reached) <= callsPerSecond) {
    if (reached.length === 20) expect(reached, 'calls a second').toEqual([])
    reached.push(await work())
  }
}

/** Eight callers a pace, each asking again at once; when each was let go, in order. */
export async function callFor(paces: SharedRateLimit[], forMs: number): Promise<number[]> {
  const times: number[] = []
  const end = performance.now() + forMs
  const callers = paces.flatMap((pace) =>
    Array.from({ length: 8 }, async () => {
      while (performance.now() < end) {
        await pace.acquire()
        times.push(performance.now())
      }
    }),
  )
  await Promise.all(callers)
  return times.toSorted((a, b) => a - b)
}

/** The most calls in any sliding second. */
export function mostInOneSecond(times: number[]): number {
  let most = 0
  let from = 0
  times.forEach((time, at) => {
    while (time - (times[from] ?? 0) >= 1000) from += 1
    most = Math.max(most, at - from + 1)
  })
  return most
}

async function closeAll(paces: SharedRateLimit[]): Promise<void> {
  await Promise.all(paces.map((pace) => pace.close()))
}

function sleepMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
