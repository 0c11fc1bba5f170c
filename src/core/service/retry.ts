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
 * that was reached before, is repeated until `throttledMaxMs` has passed: that uses up no retry, and neither does a new token.
 * @throws the last CallError with its `attempts` set; the signal's reason as soon as it aborts; at once what is not a
 *   CallError
 */
export async function retrying<T>(
  attempt: Attempt<T>,
  policy: RetryPolicy,
  { reread, health, countWait }: Shared,
  signal?: AbortSignal,
): Promise<T> {
  let givesUpAtMs = 0
  let retries = 0
  let waits = 0
  let rereads = 0
  let throttledMs = 0
  for (let attemptNumber = 1; ; attemptNumber += 1) {
    signal?.throwIfAborted()
    try {
      return await attempt(attemptNumber, throttledMs)
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      error.attempts = attemptNumber
      throttledMs = 0
      if (attemptNumber === 1) givesUpAtMs = performance.now() + policy.throttledMaxMs
      if (mayNeedToken(error)) {
        if ((rereads += 1) > 1 || !(await reread(error))) throw error
        continue
      }
      let waitMs: number
      if (error.kind === 'throttled' || (error.kind === 'unreachable' && health.wasReached)) {
        const leftMs = givesUpAtMs - performance.now()
        if (leftMs <= 0) {
          const seconds = policy.throttledMaxMs / 1000
          const message = `${error.message}; given up after ${seconds} s of it (SYNC_THROTTLED_MAX_MS)`
          throw error.as({ message })
        }
        const ownMs =
          error.kind === 'throttled'
            ? Math.min(error.retryAfterMs ?? 0, policy.retryAfterMaxMs)
            : backoffMs(waits++)
        waitMs = Math.min(ownMs, leftMs) + Math.random() * BACKOFF_BASE_MS
      } else if (retries < retriesOf(error, policy)) waitMs = backoffMs(retries++)
      // Too few tries to judge the address by: the scope fails, and others are tried.
      else if (error.kind === 'unreachable' && !health.isSure(error))
        throw error.as({ kind: 'retry' })
      else throw error
      const sinceMs = performance.now()
      const passedMs = () => (error.kind === 'throttled' ? performance.now() - sinceMs : 0)
      const endWait = countWait?.(passedMs)
      health.beginWait(error, sinceMs)
      try {
        await sleep(waitMs, signal)
        throttledMs = passedMs()
      } finally {
        endWait?.()
        health.endWait()
      }
    }
  }
}

function backoffMs(before: number): number {
  return Math.min(BACKOFF_MAX_MS, (1 + Math.random()) * BACKOFF_BASE_MS * 2 ** before)
}

/** True where another token may help. */
function mayNeedToken(error: CallError): boolean {
  return error.kind === 'credentials' || isForbidden(error)
}

function retriesOf(error: CallError, { retries }: RetryPolicy): number {
  if (error.kind === 'retry') return retries
  if (error.kind === 'unreachable') return isUntrusted(error) ? 0 : retries
  return error.kind === 'unknown' ? Math.min(UNKNOWN_RETRIES, retries) : 0
}
