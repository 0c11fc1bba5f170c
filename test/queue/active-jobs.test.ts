import { describe, expect, test } from 'vitest'
import { jobsInProgress } from '../../src/worker/worker.ts'

/** Where it settles when the same is seen at the end of every job. */
function settlesAt(
  inProgress: number,
  pace: Parameters<typeof jobsInProgress>[2],
  queue: 'requests' | 'everything' = 'everything',
): number {
  let now = inProgress
  for (let job = 0; job < 1000; job++) now = jobsInProgress(queue, now, pace)
  return now
}

describe('jobs in hand', () => {
  test('rise where calls could be made and none waits, up to twice the calls in flight', () => {
    expect(
      jobsInProgress('everything', 8, { permits: 10, limit: 64, waiting: 0, isPaused: false }),
    ).toBe(9)
    expect(settlesAt(8, { permits: 10, limit: 16, waiting: 0, isPaused: false })).toBe(32)
    expect(settlesAt(8, { permits: 10, limit: 1000, waiting: 0, isPaused: false })).toBe(128)
  })

  test('fall to one where a whole round of calls waits, and to eight of requests', () => {
    expect(
      jobsInProgress('everything', 20, { permits: 16, limit: 16, waiting: 17, isPaused: false }),
    ).toBe(19)
    const pace = { permits: 16, limit: 16, waiting: 500, isPaused: false }
    expect(settlesAt(128, pace)).toBe(1)
    expect(settlesAt(128, pace, 'requests')).toBe(8)
  })

  test('stay as they are in between', () => {
    expect(
      jobsInProgress('everything', 20, { permits: 16, limit: 16, waiting: 0, isPaused: false }),
    ).toBe(20)
    expect(
      jobsInProgress('everything', 20, { permits: 16, limit: 16, waiting: 5, isPaused: false }),
    ).toBe(20)
    expect(
      jobsInProgress('everything', 20, { permits: 10, limit: 16, waiting: 5, isPaused: false }),
    ).toBe(20)
  })

  test('stay as they are while the calls are paused', () => {
    expect(settlesAt(8, { permits: 0, limit: 16, waiting: 0, isPaused: true })).toBe(8)
  })

  test('are two where only one call may be in flight, and eight of requests', () => {
    const pace = { permits: 0, limit: 1, waiting: 0, isPaused: false }
    expect(settlesAt(8, pace)).toBe(2)
    expect(settlesAt(8, pace, 'requests')).toBe(8)
  })
})
