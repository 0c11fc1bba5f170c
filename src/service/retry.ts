import pRetry from 'p-retry'
import { CallError } from '../errors.ts'
import { isForbidden } from './errors.ts'
import { sleep } from './wait.ts'
import type { ThrottlingPolicy } from './throttling.ts'

export interface RetryPolicy extends ThrottlingPolicy {
  /** Further tries of a call that may succeed in a moment. */
  readonly retries: number
}

/** Further tries of a call whose failure nobody has seen before. */
const UNKNOWN_RETRIES = 2
/** The first wait is of one to two times this; it doubles with each further one, up to the most. */
const BACKOFF_BASE_MS = 250
const BACKOFF_MAX_MS = 30_000

/**
 * Makes a call, and makes it again where its failure's kind allows. A call that was throttled is made again for as long as
 * `throttledMaxMs` lasts: that uses up none of its retries, and neither does a token that was read again.
 * @param attempt one call; gets the number of the try, from 1
 * @param reread looks for another token after a call was refused or forbidden; true when there is one to try
 * @throws the last CallError with its `attempts` set; the signal's reason as soon as it aborts;
 *   at once what is not a CallError
 */
export async function retrying<T>(
  attempt: (attemptNumber: number) => Promise<T>,
  policy: RetryPolicy,
  reread: (error: CallError) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted()
  try {
    return await attempt(1)
  } catch (error) {
    return tryingAgain(error, attempt, policy, reread, signal)
  }
}

/** Apart from the first try: p-retry's loop made a call that succeeds cost 51 µs of CPU instead of 36. */
async function tryingAgain<T>(
  firstError: unknown,
  attempt: (attemptNumber: number) => Promise<T>,
  policy: RetryPolicy,
  reread: (error: CallError) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<T> {
  const firstFailedAtMs = performance.now()
  let rereads = 0
  let late: { answer: T } | undefined
  try {
    return await pRetry(
      async (attemptNumber) => {
        if (attemptNumber === 1) throw firstError
        const answer = await attempt(attemptNumber)
        late = { answer }
        return answer
      },
      {
        // One more than is ever used up: at its last one p-retry ends also what uses up none.
        retries: policy.retries + 1,
        factor: 2,
        minTimeout: BACKOFF_BASE_MS,
        maxTimeout: BACKOFF_MAX_MS,
        randomize: true,
        ...(signal === undefined ? {} : { signal }),
        onFailedAttempt({ error, attemptNumber }) {
          if (error instanceof CallError) error.attempts = attemptNumber
        },
        shouldConsumeRetry: ({ error }) => !(error instanceof CallError) || !isFree(error),
        async shouldRetry({ error, retriesConsumed }) {
          if (!(error instanceof CallError)) return false
          if (mayNeedToken(error)) return (rereads += 1) === 1 && (await reread(error))
          if (error.kind !== 'throttled') return retriesConsumed < retriesOf(error, policy)
          // Not maxRetryTime, which ends tries of every kind, and counts what they wait for each other.
          const leftMs = policy.throttledMaxMs - (performance.now() - firstFailedAtMs)
          if (leftMs <= 0) return false
          // p-retry goes on at once after what uses up no retry.
          const askedMs = Math.min(error.retryAfterMs ?? 0, policy.retryAfterMaxMs, leftMs)
          await sleep(askedMs + Math.random() * BACKOFF_BASE_MS, signal)
          return true
        },
      },
    )
  } catch (error) {
    // p-retry throws an answer away that comes after the signal aborted.
    if (late !== undefined) return late.answer
    if (error instanceof CallError && error.kind === 'throttled') throw givenUp(error, policy)
    throw error
  }
}

/** True where another token may help. */
function mayNeedToken(error: CallError): boolean {
  return error.kind === 'credentials' || isForbidden(error)
}

function isFree(error: CallError): boolean {
  return error.kind === 'throttled' || mayNeedToken(error)
}

function retriesOf({ kind }: CallError, { retries }: RetryPolicy): number {
  if (kind === 'retry') return retries
  return kind === 'unknown' ? Math.min(UNKNOWN_RETRIES, retries) : 0
}

function givenUp(error: CallError, { throttledMaxMs }: RetryPolicy): CallError {
  const { kind, httpStatus, errorStatus, retryAfterMs, attempts } = error
  const message = `${error.message}; given up after ${throttledMaxMs / 1000} s of it (SYNC_THROTTLED_MAX_MS)`
  const last = new CallError(message, { kind, httpStatus, errorStatus, retryAfterMs, cause: error })
  last.attempts = attempts
  return last
}
