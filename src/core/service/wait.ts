import type { IncomingHttpHeaders } from 'node:http'

/**
 * Calls `callback` when `signal` aborts, or at once if it has. Returns the function that unregisters it. The callbacks of a signal
 * share one listener: hundreds of calls wait on the signal of their job, and Node compares each new listener with all others. It
 * is removed with the last callback; Node never collects a composite signal that has listeners.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => {}
  }
  const { callbacks, callAll } = listenerOf.get(signal) ?? listenTo(signal)
  callbacks.add(callback)
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return
    signal.removeEventListener('abort', callAll)
    listenerOf.delete(signal)
  }
}

interface Listener {
  readonly callbacks: Set<() => void>
  callAll(): void
}

const listenerOf = new WeakMap<AbortSignal, Listener>()

function listenTo(signal: AbortSignal): Listener {
  const callbacks = new Set<() => void>()
  const listener = { callbacks, callAll: () => callbacks.forEach((call) => call()) }
  listenerOf.set(signal, listener)
  signal.addEventListener('abort', listener.callAll, { once: true })
  return listener
}

/** Waits `ms`. @throws the signal's reason, as soon as it aborts */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let forget = (): void => {}
    const timer = setTimeout(() => {
      forget()
      resolve()
    }, ms)
    if (signal === undefined) return
    forget = onAbort(signal, () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}

/** Priority of a caller that waits: `high` is for runs that a person waits for. */
export type Priority = 'high' | 'normal'

/** After so many callers of high priority in a row, one of normal priority is served: neither waits for ever. */
const HIGH_IN_A_ROW = 3

/** A queue of callers: high priority first, and among equals first come, first served. */
export class WaitLine {
  // A Set keeps the order of arrival, and an aborted caller leaves from the middle at no cost.
  readonly #waiting = {
    high: new Set<(reason?: Error) => void>(),
    normal: new Set<(reason?: Error) => void>(),
  }
  #highInARow = 0

  get length(): number {
    return this.#waiting.high.size + this.#waiting.normal.size
  }

  /** Waits until `letOneGo` lets the caller go. @throws the signal's reason when it aborts first */
  join(signal?: AbortSignal, priority: Priority = 'normal'): Promise<void> {
    const equals = this.#waiting[priority]
    return new Promise((resolve, reject) => {
      let forget = (): void => {}
      const end = (reason?: Error) => {
        forget()
        equals.delete(end)
        if (reason === undefined) resolve()
        else reject(reason)
      }
      equals.add(end)
      if (signal !== undefined) forget = onAbort(signal, () => end(signal.reason as Error))
    })
  }

  /**
   * Lets the next caller go on.
   * @param options.onlyHigh none of normal priority
   * @returns its priority; null when no caller waits that may go on
   */
  letOneGo({ onlyHigh = false } = {}): Priority | null {
    const { high, normal } = this.#waiting
    const mayBeNormal = !onlyHigh && normal.size > 0
    const isNormal = mayBeNormal && (high.size === 0 || this.#highInARow >= HIGH_IN_A_ROW)
    const [first] = isNormal ? normal : high
    if (first === undefined) return null
    this.#highInARow = !isNormal && mayBeNormal ? this.#highInARow + 1 : 0
    first()
    return isNormal ? 'normal' : 'high'
  }

  /** Rejects all that wait with `reason`. */
  dismiss(reason: Error): void {
    for (const equals of Object.values(this.#waiting)) for (const end of equals) end(reason)
  }
}

/**
 * When to come again, in milliseconds: by `retry-after-ms`, or by `Retry-After` in seconds or as a date, counted from the
 * answer's own `Date` where it has one, so that two clocks are not compared. Null where neither can be read.
 */
export function retryAfterMsOf(headers: IncomingHttpHeaders): number | null {
  const ms = numberOf(headers['retry-after-ms'])
  if (ms !== null || headers['retry-after'] === undefined) return ms
  const text = headers['retry-after'].trim()
  const seconds = numberOf(text)
  if (seconds !== null) return seconds * 1000
  const untilMs = HTTP_DATE.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(untilMs) ? null : Math.max(0, untilMs - sentMsOf(headers))
}

/**
 * When a quota begins anew, in milliseconds: `ratelimit-reset` or `x-ratelimit-reset`, which is in seconds from now, or a time in
 * seconds or milliseconds since 1970. Null where neither can be read. Many services send it with every answer.
 */
export function resetMsOf(headers: IncomingHttpHeaders): number | null {
  const reset = numberOf(headers['ratelimit-reset'] ?? headers['x-ratelimit-reset'])
  if (reset === null || reset < EPOCH_SECONDS_MIN) return reset === null ? null : reset * 1000
  const untilMs = reset < EPOCH_SECONDS_MIN * 1000 ? reset * 1000 : reset
  return Math.max(0, untilMs - sentMsOf(headers))
}

/** Of 2001, and longer than any wait. */
const EPOCH_SECONDS_MIN = 1_000_000_000

/** A date starts with the name of its day; `Date.parse` alone would take `-5` for a month. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? /

function numberOf(header: string | string[] | undefined): number | null {
  if (header === undefined) return null
  const text = String(header).trim()
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : null
}

function sentMsOf({ date }: IncomingHttpHeaders): number {
  const sentMs = date === undefined ? NaN : Date.parse(date)
  return Number.isNaN(sentMs) ? Date.now() : sentMs
}

/** Times are those of `performance.now`. */
export interface RateLimitSnapshot {
  /** Most calls a second of all processes; null for no limit. */
  readonly callsPerSecond: number | null
  /** Callers of this process that wait in `acquire`. */
  readonly waiting: number
  /** The pause that lasts; null without one. */
  readonly pause: { readonly sinceMs: number; readonly untilMs: number } | null
  /** How long this process has been paused since it began, the current pause included. */
  readonly pausedMs: number
}

/** Of a limit that makes no call wait. */
export const NO_SLOT_WAITS: RateLimitSnapshot = {
  callsPerSecond: null,
  waiting: 0,
  pause: null,
  pausedMs: 0,
}

/**
 * The rate that all processes keep together: the calls a second of `SYNC_RATE_LIMIT`, and pauses that
 * the service asked one of them for. Implementations are in `src/core/rate-limit/`.
 */
export interface SharedRateLimit {
  /**
   * Waits for a slot to make one call, in the order of WaitLine, and while a pause of any process lasts.
   * Costs no round trip where there is neither limit nor pause. When the shared store is away, a limit
   * is kept by waiting for it.
   * @returns null where the call can be made at once: without an await it counts as no wait
   * @throws the signal's reason, as soon as it aborts
   */
  acquire(signal?: AbortSignal, priority?: Priority): Promise<void> | null
  /** Pauses all processes for `ms`; this one at once. Never rejects: without the store, it pauses alone. */
  pauseAll(ms: number): Promise<void>
  /** What calls of this process wait for. */
  snapshot(): RateLimitSnapshot
  /** Stops waiting and timers; who waits in `acquire` gets a DrainingError. */
  close(): Promise<void>
}
