import { setMaxListeners } from 'node:events'
import pRetry from 'p-retry'
import { CallError } from '../../base/errors.ts'
import { isForbidden } from './errors.ts'
import type { ServiceHealth, WaitPolicy } from './health.ts'
import { isUntrusted } from './unreachable.ts'
import { sleep } from '../../base/abort.ts'

export interface RetryPolicy extends WaitPolicy {
  /** Retries of a call that may succeed in a moment. */
  readonly retries: number
}

/** What the calls of a process share. */
export interface Shared {
  /** Reads key and token again after a call was refused or forbidden; true when there is another one to try. */
  reread(error: CallError): Promise<boolean>
  readonly health: ServiceHealth
  /** Counts a wait while it lasts, until the function that it returns is called. */
  readonly countWait?: (throttledMs: () => number) => () => void
}

/** One try of a call. It receives its number, from 1, and how long it waited because the previous try was throttled. */
type Attempt<T> = (attemptNumber: number, throttledMs: number) => Promise<T>

/** Retries of a call whose failure has no row in the table of failures. */
const UNKNOWN_RETRIES = 2
/** The first wait lasts one to two times this; it doubles with each retry. */
const BACKOFF_BASE_MS = 250
const BACKOFF_MAX_MS = 30_000

/**
 * Makes a call, and repeats it where the kind of its failure allows. A call that is throttled, or that does not reach a service
 * that was reached before, is repeated until `throttledMaxMs` has passed: that uses up no retry, and neither do a new key and token.
 * @throws the last CallError with its `attempts` set; the signal's reason as soon as it aborts; at once what is not a
 *   CallError
 */
export async function retrying<T>(
  attempt: Attempt<T>,
  policy: RetryPolicy,
  shared: Shared,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted()
  try {
    return await attempt(1, 0)
  } catch (error) {
    return tryingAgain(error, attempt, policy, shared, signal)
  }
}

/** Repeats a call after its first try, which is made without p-retry (docs/decisions/2026-11-25-throttling.md). */
async function tryingAgain<T>(
  firstError: unknown,
  attempt: Attempt<T>,
  policy: RetryPolicy,
  { reread, health, countWait }: Shared,
  signal?: AbortSignal,
): Promise<T> {
  // Each call that waits for its next try listens to the signal of its batch; Node warns about more than ten listeners.
  if (signal !== undefined) setMaxListeners(0, signal)
  const firstFailedAtMs = health.now()
  const waits = ({ kind }: CallError) =>
    kind === 'throttled' || (kind === 'unreachable' && health.wasReached)
  let wait: { readonly throttledMs: () => number; readonly end?: (() => void) | undefined } | null =
    null
  const beginWait = (error: CallError) => {
    const sinceMs = health.now()
    const throttledMs = () => (error.kind === 'throttled' ? health.now() - sinceMs : 0)
    wait = { throttledMs, end: countWait?.(throttledMs) }
    health.beginWait(error, sinceMs)
  }
  const endWait = (): number => {
    if (wait === null) return 0
    const throttledMs = wait.throttledMs()
    wait.end?.()
    health.endWait()
    wait = null
    return throttledMs
  }
  let rereads = 0
  let waited = 0
  let late: { response: T } | undefined
  try {
    return await pRetry(
      async (attemptNumber) => {
        if (attemptNumber === 1) throw firstError
        const response = await attempt(attemptNumber, endWait())
        late = { response }
        return response
      },
      {
        // One more than is ever used: on its last retry p-retry also ends calls that use none.
        retries: policy.retries + 1,
        minTimeout: BACKOFF_BASE_MS,
        maxTimeout: BACKOFF_MAX_MS,
        randomize: true,
        ...(signal === undefined ? {} : { signal }),
        onFailedAttempt({ error, attemptNumber }) {
          if (error instanceof CallError) error.attempts = attemptNumber
        },
        shouldConsumeRetry: ({ error }) =>
          !(error instanceof CallError) || !(waits(error) || mayNeedCredentials(error)),
        async shouldRetry({ error, retriesConsumed }) {
          if (!(error instanceof CallError)) return false
          if (mayNeedCredentials(error)) return (rereads += 1) === 1 && (await reread(error))
          if (!waits(error)) {
            if (retriesConsumed >= retriesOf(error, policy)) return false
            beginWait(error)
            return true
          }
          // Not maxRetryTime, which ends tries of every kind, and counts what they wait for each other.
          const leftMs = policy.throttledMaxMs - (health.now() - firstFailedAtMs)
          if (leftMs <= 0) return false
          beginWait(error)
          const waitMs =
            error.kind === 'throttled'
              ? Math.min(error.retryAfterMs ?? 0, policy.retryAfterMaxMs)
              : Math.min(BACKOFF_MAX_MS, (1 + Math.random()) * BACKOFF_BASE_MS * 2 ** waited++)
          await sleep(Math.min(waitMs, leftMs) + Math.random() * BACKOFF_BASE_MS, signal)
          return true
        },
      },
    )
  } catch (error) {
    // p-retry rejects when the signal aborted during a try, even if that try succeeded.
    if (late !== undefined) return late.response
    if (!(error instanceof CallError)) throw error
    if (waits(error)) {
      const seconds = policy.throttledMaxMs / 1000
      const message = `${error.message}; given up after ${seconds} s of it (SYNC_THROTTLED_MAX_MS)`
      throw error.as({ message })
    }
    // Too few tries to judge the address by: the scope fails, and others are tried.
    if (error.kind === 'unreachable' && !health.isSure(error)) throw error.as({ kind: 'retry' })
    throw error
  } finally {
    endWait()
  }
}

/** True where another key or token may help. */
function mayNeedCredentials(error: CallError): boolean {
  return error.kind === 'credentials' || isForbidden(error)
}

function retriesOf(error: CallError, { retries }: RetryPolicy): number {
  if (error.kind === 'retry') return retries
  if (error.kind === 'unreachable') return isUntrusted(error) ? 0 : retries
  return error.kind === 'unknown' ? Math.min(UNKNOWN_RETRIES, retries) : 0
}
