import { describe, expect, test } from 'vitest'
import { jobsInHand } from '../../src/worker.ts'

/** Where it settles when the same is seen at the end of every job. */
function settlesAt(inHand: number, pace: Parameters<typeof jobsInHand>[1]): number {
  let now = inHand
  for (let job = 0; job < 1000; job++) now = jobsInHand(now, pace)
  return now
}

describe('jobs in hand', () => {
  test('rise where calls could be made and none waits, up to twice the calls in flight', () => {
    expect(jobsInHand(8, { inFlight: 10, limit: 64, waiting: 0 })).toBe(9)
    expect(settlesAt(8, { inFlight: 10, limit: 16, waiting: 0 })).toBe(32)
    expect(settlesAt(8, { inFlight: 10, limit: 1000, waiting: 0 })).toBe(128)
  })

  test('fall to eight where a whole round of calls waits', () => {
    expect(jobsInHand(20, { inFlight: 16, limit: 16, waiting: 17 })).toBe(19)
    expect(settlesAt(128, { inFlight: 16, limit: 16, waiting: 500 })).toBe(8)
  })

  test('stay as they are in between', () => {
    expect(jobsInHand(20, { inFlight: 16, limit: 16, waiting: 0 })).toBe(20)
    expect(jobsInHand(20, { inFlight: 16, limit: 16, waiting: 5 })).toBe(20)
    expect(jobsInHand(20, { inFlight: 10, limit: 16, waiting: 5 })).toBe(20)
  })

  test('are eight where only one call may be in flight', () => {
    expect(settlesAt(8, { inFlight: 0, limit: 1, waiting: 0 })).toBe(8)
  })
})
