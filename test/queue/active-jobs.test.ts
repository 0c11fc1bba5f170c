import { describe, expect, test } from 'vitest'
import { jobsInProgress } from '../../src/worker/worker.ts'

const pace = (permits: number, limit: number, waiting: number, isPaused = false) => {
  return { permits, limit, waiting, isPaused }
}

/** Where it settles when the same is seen at the end of every job. */
function settlesAt(
  inProgress: number,
  seen: ReturnType<typeof pace>,
  queue: 'requests' | 'everything' = 'everything',
): number {
  let now = inProgress
  for (let job = 0; job < 1000; job++) now = jobsInProgress(queue, now, seen)
  return now
}

describe('jobs in hand', () => {
  test.each([
    ['rise by one where calls could be made and none waits', 8, pace(10, 64, 0), 9],
    ['fall by one where a whole round of calls waits', 20, pace(16, 16, 17), 19],
    ['stay where all permits are taken and none waits', 20, pace(16, 16, 0), 20],
    ['stay where fewer wait than a round', 20, pace(16, 16, 5), 20],
    ['stay where some wait and calls could be made', 20, pace(10, 16, 5), 20],
  ])('%s', (_, inProgress, seen, next) => {
    expect(jobsInProgress('everything', inProgress, seen)).toBe(next)
  })

  test.each([
    ['twice the calls in flight', 8, pace(10, 16, 0), 32],
    ['128 at most', 8, pace(10, 1000, 0), 128],
    ['what they are while the calls are paused', 8, pace(0, 16, 0, true), 8],
    ['one where a whole round of calls waits, and eight of requests', 128, pace(16, 16, 500), 1, 8],
    ['two where only one call may be in flight, and eight of requests', 8, pace(0, 1, 0), 2, 8],
  ])('come to %s', (_, inProgress, seen, everything, requests?: number) => {
    expect(settlesAt(inProgress, seen)).toBe(everything)
    if (requests !== undefined) expect(settlesAt(inProgress, seen, 'requests')).toBe(requests)
  })
})
