import { setTimeout as sleep } from 'node:timers/promises'
import { ProblemError } from '../problem.ts'
import type { FailedTries } from './failed-tries.ts'
import type { Sessions } from './sessions.ts'

/** What a token opens. */
export interface Lock {
  readonly isToken: (given: string) => boolean
  readonly sessions: Sessions
  readonly failedTries: FailedTries
}

/**
 * Compares what somebody shows with the token; a wrong one is answered late.
 * @param address whose try it is
 * @throws ProblemError 429 after too many wrong ones, without a look at this one
 */
export async function tryToken(lock: Lock, address: string, given: string): Promise<boolean> {
  const { isToken, failedTries } = lock
  const seconds = failedTries.secondsToWait(address)
  if (seconds > 0)
    throw new ProblemError(429, 'Too many tries with a wrong token; wait and try again.', {
      headers: { 'retry-after': String(seconds) },
    })
  if (isToken(given)) {
    failedTries.succeed(address)
    return true
  }
  await sleep(failedTries.fail(address))
  return false
}
