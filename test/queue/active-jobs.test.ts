import { describe, expect, test } from 'vitest'
import { jobsInProgress } from '../../src/worker/worker.ts'

/** Where it settles when the same is seen at the end of every job. */
function settlesAt(inProgress: number, pace: Parameters<typeof jobsInProgress>[1]): number {
  let now = inProgress
  for (let job = 0; job < 1000; job++) now = jobsInProgress(now, pace)
  return now
}

describe('jobs in hand', () => {
  test('rise where calls could be made and none waits, up to twice the calls in flight', () => {
    expect(jobsInProgress(8, { permits: 10, limit: 64, waiting: 0 })).toBe(9)
    expect(settlesAt(8, { permits: 10, limit: 16, waiting: 0 })).toBe(32)
    expect(settlesAt(8, { permits: 10, limit: 1000, waiting: 0 })).toBe(128)
  })

  test('fall to eight where a whole round of calls waits', () => {
    expect(jobsInProgress(20, { permits: 16, limit: 16, waiting: 17 })).toBe(19)
    expect(settlesAt(128, { permits: 16, limit: 16, waiting: 500 })).toBe(8)
  })

  test('stay as they are in between', () => {
    expect(jobsInProgress(20, { permits: 16, limit: 16, waiting: 0 })).toBe(20)
    expect(jobsInProgress(20, { permits: 16, limit: 16, waiting: 5 })).toBe(20)
    expect(jobsInProgress(20, { permits: 10, limit: 16, waiting: 5 })).toBe(20)
  })

  test('are eight where only one call may be in flight', () => {
    expect(settlesAt(8, { permits: 0, limit: 1, waiting: 0 })).toBe(8)
  })
})
