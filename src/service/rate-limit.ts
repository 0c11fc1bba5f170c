/**
 * The rate that all processes keep together: the calls a second of `SYNC_RATE_LIMIT`, and pauses that
 * the service asked one of them for. Implementations are in `src/rate-limit/`.
 */
export interface SharedRateLimit {
  /**
   * Waits for a slot to make one call, first come, first served, and while a pause of any process lasts.
   * Costs no round trip where there is neither limit nor pause. When the shared store is away, a limit
   * is kept by waiting for it.
   * @throws the signal's reason, as soon as it aborts
   */
  acquire(signal?: AbortSignal): Promise<void>
  /** Pauses all processes for `ms`; this one at once. Never rejects: without the store, it pauses alone. */
  pauseAll(ms: number): Promise<void>
  /** Stops waiting and timers; who waits in `acquire` gets a DrainingError. */
  close(): Promise<void>
}
