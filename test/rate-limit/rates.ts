import { expect } from 'vitest'
import type { SharedRateLimit } from '../../src/core/service/shared-rate-limit.ts'

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

/** Eight callers a limit, each asking again at once; when each was let go, in order. */
export async function callFor(limits: SharedRateLimit[], forMs: number): Promise<number[]> {
  const times: number[] = []
  const end = performance.now() + forMs
  const callers = limits.flatMap((limit) =>
    Array.from({ length: 8 }, async () => {
      while (performance.now() < end) {
        await limit.acquire()
        times.push(performance.now())
      }
    }),
  )
  await Promise.all(callers)
  return times.toSorted((a, b) => a - b)
}

/** The most of these times in any sliding second. @param times in order */
export function mostInOneSecond(times: readonly number[]): number {
  let most = 0
  let from = 0
  times.forEach((time, at) => {
    while (time - (times[from] ?? 0) >= 1000) from += 1
    most = Math.max(most, at - from + 1)
  })
  return most
}

/** How many a second these times are from the first to the last. @param times in order */
export function meanPerSecond(times: readonly number[]): number {
  const spanMs = (times.at(-1) ?? 0) - (times[0] ?? 0)
  return spanMs > 0 ? ((times.length - 1) * 1000) / spanMs : 0
}
