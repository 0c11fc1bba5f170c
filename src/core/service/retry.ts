import { CallError } from '../../base/errors.ts'
import { isForbidden } from './errors.ts'
import type { ServiceHealth, WaitPolicy } from './health.ts'
import { isUntrusted } from './reach.ts'
import { sleep } from './wait.ts'

export interface RetryPolicy extends WaitPolicy {
  /** Retries of a call that may succeed in a moment. */
  readonly retries: number
}

/** What the calls of a process share. */
export interface Shared {
  /** Reads the token again after a call was refused or forbidden; true when there is another one to try. */
  reread(error: CallError): Promise<boolean>
  readonly health: ServiceHealth
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
 * that was reached before, is repeated until `throttledMaxMs` has passed: that uses up no retry, and neither does a new token.
 * @throws the last CallError with its `attempts` set; the signal's reason when it aborts before a try; at once what is not a
 *   CallError
 */
export async function retrying<T>(
  attempt: Attempt<T>,
  { retries, retryAfterMaxMs, throttledMaxMs }: RetryPolicy,
  { reread, health }: Shared,
  signal?: AbortSignal,
): Promise<T> {
  let firstFailedAtMs: number | null = null
  let hasReread = false
  let [retriesMade, waits, throttledMs] = [0, 0, 0]
  for (let attemptNumber = 1; ; attemptNumber += 1) {
    signal?.throwIfAborted()
    try {
      return await attempt(attemptNumber, throttledMs)
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      error.attempts = attemptNumber
      throttledMs = 0
      const { kind, retryAfterMs } = error
      const failedAtMs = performance.now()
      firstFailedAtMs ??= failedAtMs
      if (kind === 'credentials' || isForbidden(error)) {
        if (hasReread || !(await reread(error))) throw error
        hasReread = true
        continue
      }
      let waitMs: number
      if (kind === 'throttled' || (kind === 'unreachable' && health.wasReached)) {
        const leftMs = throttledMaxMs - (failedAtMs - firstFailedAtMs)
        if (leftMs <= 0) {
          const seconds = throttledMaxMs / 1000
          const message = `${error.message}; given up after ${seconds} s of it (SYNC_THROTTLED_MAX_MS)`
          throw error.as({ message })
        }
        const longMs =
          kind === 'throttled' ? Math.min(retryAfterMs ?? 0, retryAfterMaxMs) : backoffMs(waits++)
        waitMs = Math.min(longMs, leftMs) + Math.random() * BACKOFF_BASE_MS
      } else if (retriesMade < retriesOf(error, retries)) waitMs = backoffMs(retriesMade++)
      // Too few tries to judge the address by: the scope fails, and others are tried.
      else if (kind === 'unreachable' && !health.isSure(error)) throw error.as({ kind: 'retry' })
      else throw error
      health.beginWait(error, failedAtMs)
      await sleep(waitMs, signal).finally(() => health.endWait())
      if (kind === 'throttled') throttledMs = performance.now() - failedAtMs
    }
  }
}

function retriesOf(error: CallError, retries: number): number {
  if (error.kind === 'retry') return retries
  if (error.kind === 'unreachable') return isUntrusted(error) ? 0 : retries
  return error.kind === 'unknown' ? Math.min(UNKNOWN_RETRIES, retries) : 0
}

/** With full jitter between once and twice the time. */
function backoffMs(retry: number): number {
  return Math.min(BACKOFF_MAX_MS, (1 + Math.random()) * BACKOFF_BASE_MS * 2 ** retry)
}
