import type { Pace } from '../../schemas/pace.ts'
import type { Priority } from './wait-line.ts'

/** A pause of all calls that an operator ordered. */
export type OperatorPause = Readonly<NonNullable<Pace['pause']>>

/** Durations, in milliseconds. */
export interface RateLimitSnapshot {
  /** Most calls a second of all processes; null for no limit. */
  readonly callsPerSecond: number | null
  /** Whether `callsPerSecond` is the pace that an operator set, and not `SYNC_RATE_LIMIT`. */
  readonly isPace: boolean
  /** Callers of this process that wait in `acquire`. */
  readonly waiting: number
  /** The operator's pause that lasts; null without one. */
  readonly operatorPause: OperatorPause | null
  /** The pause that the service requested and that lasts; null without one. */
  readonly pause: { readonly pausedForMs: number; readonly leftMs: number } | null
  /** How long the service has paused this process since it began, the current pause included. */
  readonly pausedMs: number
  /** Set while the server that stores the rate has not responded to a request, or refuses it: for how long. */
  readonly silent: { readonly server: string; readonly silentForMs: number } | null
}

/**
 * The rate that all processes keep together: the calls a second of `SYNC_RATE_LIMIT` or of the operator's pace, pauses that the
 * service requested from one of them, and pauses that an operator ordered. Implementations are in `src/core/rate-limit/`.
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
  /**
   * Waits for the end of the operator's pause. To be called before anything decides about a call, so that no decision is made
   * from what was known before the pause; `acquire` waits for it too.
   * @returns null where no pause lasts
   * @throws the signal's reason, as soon as it aborts
   */
  resumed(signal?: AbortSignal): Promise<void> | null
  /** A clock in milliseconds that stands still during the operator's pauses: no patience and no breaker runs out meanwhile. */
  now(): number
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
  resumed: () => null,
  now: () => performance.now(),
  pauseAll: async () => {},
  snapshot: () => ({
    callsPerSecond: null,
    isPace: false,
    waiting: 0,
    operatorPause: null,
    pause: null,
    pausedMs: 0,
    silent: null,
  }),
  close: async () => {},
}
