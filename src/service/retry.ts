import { CallError } from '../errors.ts'
import { isForbidden } from './errors.ts'
import { isUntrusted } from './reach.ts'
import type { Reach } from './reach.ts'
import { sleep } from './wait.ts'
import type { ThrottlingPolicy } from './throttling.ts'

export interface RetryPolicy extends ThrottlingPolicy {
  /** Further tries of a call that may succeed in a moment. */
  readonly retries: number
}

/** What the calls of a process share. */
export interface Shared {
  reread(error: CallError): Promise<boolean>
  readonly reach: Reach
}

/** Further tries of a call whose failure nobody has seen before. */
const UNKNOWN_RETRIES = 2
/** The first wait is of one to two times this; it doubles with each further one, up to the most. */
const BACKOFF_BASE_MS = 250
const BACKOFF_MAX_MS = 30_000

/**
 * Makes a call, and makes it again where its failure's kind allows. A call that was throttled, or that does not reach a
 * service that was reached before, is made again for as long as `throttledMaxMs` lasts: that uses up none of its retries, and
 * neither does a token that was read again.
 * @param attempt one call; gets the number of the try, from 1
 * @param shared.reread looks for another token after a call was refused or forbidden; true when there is one to try
 * @throws the last CallError with its `attempts` set; the signal's reason as soon as it aborts;
 *   at once what is not a CallError
 */
export async function retrying<T>(
  attempt: (attemptNumber: number) => Promise<T>,
  policy: RetryPolicy,
  { reread, reach }: Shared,
  signal?: AbortSignal,
): Promise<T> {
  let firstFailedAtMs: number | null = null
  let [retries, rereads, waits] = [0, 0, 0]
  for (let attemptNumber = 1; ; attemptNumber += 1) {
    signal?.throwIfAborted()
    try {
      return await attempt(attemptNumber)
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof CallError)) throw error
      error.attempts = attemptNumber
      firstFailedAtMs ??= performance.now()
      if (error.kind === 'credentials' || isForbidden(error)) {
        rereads += 1
        if (rereads > 1 || !(await reread(error))) throw error
      } else if (error.kind === 'throttled' || (error.kind === 'unreachable' && reach.wasReached)) {
        const leftMs = policy.throttledMaxMs - (performance.now() - firstFailedAtMs)
        if (leftMs <= 0) throw givenUp(error, policy)
        const waitMs =
          error.kind === 'throttled'
            ? Math.min(error.retryAfterMs ?? 0, policy.retryAfterMaxMs)
            : backoffMs(waits++)
        await sleep(Math.min(waitMs, leftMs) + Math.random() * BACKOFF_BASE_MS, signal)
      } else {
        if (retries >= retriesOf(error, policy)) throw lastOf(error, reach)
        await sleep(backoffMs(retries++), signal)
      }
    }
  }
}

/** With too few tries to judge the address by, only this scope fails, and others are tried. */
function lastOf(error: CallError, reach: Reach): CallError {
  const isUnsure = error.kind === 'unreachable' && !reach.isSure(error)
  return isUnsure ? error.as({ kind: 'retry' }) : error
}

function retriesOf(error: CallError, { retries }: RetryPolicy): number {
  if (error.kind === 'retry') return retries
  if (error.kind === 'unreachable') return isUntrusted(error) ? 0 : retries
  return error.kind === 'unknown' ? Math.min(UNKNOWN_RETRIES, retries) : 0
}

function backoffMs(waitsBefore: number): number {
  return Math.min(BACKOFF_MAX_MS, (1 + Math.random()) * BACKOFF_BASE_MS * 2 ** waitsBefore)
}

function givenUp(error: CallError, { throttledMaxMs }: RetryPolicy): CallError {
  const message = `${error.message}; given up after ${throttledMaxMs / 1000} s of it (SYNC_THROTTLED_MAX_MS)`
  return error.as({ message })
}
