import type { Priority } from './wait-line.ts'

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
