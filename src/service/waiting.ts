import type { CallError } from '../errors.ts'

/** What the calls of a process wait for. Times are those of this machine. */
export interface ServiceWait {
  /**
   * `throttled`: the service gets more calls than it takes; `rate_limit`: calls wait for slots of `SYNC_RATE_LIMIT`;
   * `away`: the service has taken no call for a while, and calls wait for their next try.
   */
  readonly kind: 'throttled' | 'rate_limit' | 'away'
  /** Left out where the calls do not know. */
  readonly since?: Date
  /** When the next call is sent; null where that is not known, or one is under way. */
  readonly until?: Date | null
  /** When `SYNC_THROTTLED_MAX_MS` ends; null where that setting does not apply. */
  readonly givesUpAt?: Date | null
  /** Of `rate_limit`: most calls a second of all processes together. */
  readonly callsPerSecond?: number
  /** The last failure; left out for `rate_limit`, and where the service throttled another process. */
  readonly error?: CallError
}

/** A service that takes no call is away when this has lasted so long; a shorter failure is not worth reporting. */
const AWAY_AFTER_MS = 5_000

/** Counts the calls of a process that wait for their next try. Times are those of `performance.now`. */
export class RetryWaits {
  #calls = 0
  #last: { readonly sinceMs: number; readonly error: CallError } | null = null

  /** How many calls wait. */
  get calls(): number {
    return this.#calls
  }

  /** A call failed with `error`, and waits for its next try. */
  begin(error: CallError, nowMs: number): void {
    this.#calls += 1
    this.#last = { sinceMs: this.#last?.sinceMs ?? nowMs, error }
  }

  /** The call is tried again, or given up. */
  end(): void {
    this.#calls -= 1
  }

  /** The service took a call, or a process starts afresh. */
  forget(): void {
    this.#last = null
  }

  /**
   * Since when the service has taken no call, and the last failure; null unless most calls wait for their next try.
   * @param inFlight calls in flight: while they are more, the service may only be slow
   */
  away(inFlight: number, nowMs: number): { sinceMs: number; error: CallError } | null {
    const isAway = this.#last !== null && nowMs - this.#last.sinceMs >= AWAY_AFTER_MS
    return isAway && this.#calls > inFlight ? this.#last : null
  }
}

/** The time of this machine for one of `performance.now`. */
export function dateOf(ms: number): Date {
  return new Date(Date.now() + ms - performance.now())
}
