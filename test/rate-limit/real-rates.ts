import { expect } from 'vitest'
import type { SharedRateLimit } from '../../src/service/attempt.ts'

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
