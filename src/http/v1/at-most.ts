import { ProblemError } from '../problem.ts'

/**
 * Lets so many pieces of work be in hand at a time and refuses the next, so that a PostgreSQL that is slow makes callers
 * come again rather than wait in a line that grows.
 * @throws ProblemError 429
 */
export function atMost(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  let inHand = 0
  return async (work) => {
    if (inHand >= max)
      throw new ProblemError(429, 'Too many at a time; try again in a second.', {
        headers: { 'retry-after': '1' },
      })
    inHand += 1
    try {
      return await work()
    } finally {
      inHand -= 1
    }
  }
}
