import { setTimeout as sleep } from 'node:timers/promises'
import { ProblemError } from '../problem.ts'
import type { Access, Tokens } from './access-token.ts'
import type { FailedTries } from './failed-tries.ts'
import type { Sessions } from './sessions.ts'

/** What a token opens. */
export interface Lock {
  readonly tokens: Tokens
  readonly sessions: Sessions
  readonly failedTries: FailedTries
}

/**
 * Looks whose token somebody shows; null for a wrong one, which is answered late. A right one is never kept waiting,
 * whatever others tried from the same address.
 * @param address whose try it is
 * @throws ProblemError 429 for a wrong one after too many
 */
export async function tryToken(lock: Lock, address: string, given: string): Promise<Access | null> {
  const { tokens, failedTries } = lock
  const access = await tokens.find(given)
  if (access !== null) return access
  const seconds = failedTries.secondsToWait(address)
  if (seconds > 0)
    throw new ProblemError(429, 'Too many tries with a wrong token; wait and try again.', {
      headers: { 'retry-after': String(seconds) },
    })
  await sleep(failedTries.fail(address))
  return null
}
