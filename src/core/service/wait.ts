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

/** After this many callers of high priority in a row, one of normal priority is served, so that neither starves. */
const HIGH_IN_A_ROW = 3

/** Callers that wait: how to end the wait of each, and the units that it waits for. */
export type Waiting = Map<(reason?: Error) => void, number>

/** Adds a caller to those that wait. @throws the signal's reason when it aborts first */
export function waitAmong(waiting: Waiting, units: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let forget = (): void => {}
    const end = (reason?: Error) => {
      forget()
      waiting.delete(end)
      if (reason === undefined) resolve()
      else reject(reason)
    }
    waiting.set(end, units)
    if (signal !== undefined) forget = onAbort(signal, () => end(signal.reason as Error))
  })
}

/** A queue of callers: high priority first, and among equals first come, first served. */
export class WaitLine {
  readonly #high: Waiting = new Map()
  readonly #normal: Waiting = new Map()
  #highInARow = 0

  get length(): number {
    return this.#high.size + this.#normal.size
  }

  /** Waits until `letOneGo` lets the caller go. @throws the signal's reason when it aborts first */
  join(signal?: AbortSignal, priority: Priority = 'normal'): Promise<void> {
    return waitAmong(priority === 'high' ? this.#high : this.#normal, 1, signal)
  }

  /** Resumes the next caller. @returns false when no caller waits */
  letOneGo(): boolean {
    const mayBeNormal = this.#normal.size > 0
    const isNormal = mayBeNormal && (this.#high.size === 0 || this.#highInARow >= HIGH_IN_A_ROW)
    const [first] = (isNormal ? this.#normal : this.#high).keys()
    if (first === undefined) return false
    this.#highInARow = mayBeNormal && !isNormal ? this.#highInARow + 1 : 0
    first()
    return true
  }

  /** Rejects all that wait with `reason`. */
  dismiss(reason: Error): void {
    for (const waiting of [this.#high, this.#normal]) for (const end of waiting.keys()) end(reason)
  }
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
  /** Set while the server that stores the rate has not responded to a request, or refuses it. */
  readonly silent: { readonly server: string; readonly sinceMs: number } | null
}

/**
 * The rate that all processes keep together: the calls a second of `SYNC_RATE_LIMIT`, and pauses that
 * the service requested from one of them. Implementations are in `src/core/rate-limit/`.
 */
export interface SharedRateLimit {
  /**
   * Waits for a slot to make one call, in the order of WaitLine, and while a pause of any process lasts.
   * Costs no round trip where there is neither limit nor pause. When the shared store is unavailable, a limit
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

/** No limit, and no pauses: for calls that share nothing. */
export const NO_RATE_LIMIT: SharedRateLimit = {
  acquire: () => null,
  pauseAll: async () => {},
  snapshot: () => ({ callsPerSecond: null, waiting: 0, pause: null, pausedMs: 0, silent: null }),
  close: async () => {},
}
