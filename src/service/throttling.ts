import type { CallError } from '../errors.ts'
import { callFailure } from './errors.ts'
import type { Asked } from './errors.ts'

export interface ThrottlingPolicy {
  /** The longest that one wish of the service to be called later is obeyed (`SYNC_RETRY_AFTER_MAX_MS`). */
  readonly retryAfterMaxMs: number
  /** The longest that it is waited for while it takes no call (`SYNC_THROTTLED_MAX_MS`). */
  readonly throttledMaxMs: number
}

/** The first pause where the service does not say how long; it doubles with each further one, up to the most. */
const PAUSE_BASE_MS = 250
const PAUSE_MAX_MS = 30_000

/** What all calls of a process know of a service that gets more calls than it takes. Times are those of `performance.now`. */
export class Throttling {
  readonly #policy: ThrottlingPolicy
  /** The first of the answers that throttled since the service last took a call; null for none. */
  #sinceMs: number | null = null
  #lastError: CallError | null = null
  #pauses = 0
  #pausedAtMs = -Infinity
  #pausedUntilMs = -Infinity

  constructor(policy: ThrottlingPolicy) {
    this.#policy = policy
  }

  /**
   * To be asked before each call. When the service took no call for too long, one still goes out after each pause.
   * @throws CallError (`refused`, `throttled`) for the others, so that a run comes to its end
   */
  check(asked: Asked, nowMs: number): void {
    const { throttledMaxMs } = this.#policy
    if (this.#sinceMs === null || nowMs - this.#sinceMs < throttledMaxMs) return
    if (nowMs >= this.#pausedUntilMs) return
    const detail = `not asked: the service has answered every call for more than ${throttledMaxMs / 1000} s (SYNC_THROTTLED_MAX_MS) that it gets too many`
    throw callFailure(asked, { shape: 'throttled', detail })
  }

  /** The service took a call that was sent at `sentAtMs`; one from before the last pause says nothing new. */
  taken(sentAtMs: number): void {
    if (sentAtMs >= this.#pausedAtMs) this.forget()
  }

  /**
   * A call that was sent at `sentAtMs` was throttled.
   * @returns how long all calls pause: as the service says, and the longer the more pauses did not help
   */
  throttled(error: CallError, sentAtMs: number, nowMs: number): number {
    this.#sinceMs ??= nowMs
    this.#lastError = error
    const askedMs = Math.min(error.retryAfterMs ?? 0, this.#policy.retryAfterMaxMs)
    let pauseMs = askedMs
    // Sixteen calls that are throttled together are one pause.
    if (sentAtMs >= this.#pausedAtMs) {
      this.#pausedAtMs = nowMs
      this.#pauses += 1
      const isObeyed = error.retryAfterMs !== null && this.#pauses === 1
      const growingMs = Math.min(PAUSE_MAX_MS, PAUSE_BASE_MS * 2 ** (this.#pauses - 1))
      if (!isObeyed) pauseMs = Math.max(askedMs, growingMs)
    }
    // The last call before it is given up is made when it is time to.
    const leftMs = this.#sinceMs + this.#policy.throttledMaxMs - nowMs
    if (leftMs > 0) pauseMs = Math.min(pauseMs, leftMs)
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + pauseMs)
    return pauseMs
  }

  /** Since when the service has taken no call, until when calls pause, and what it last answered; null where it takes calls. */
  snapshot(): { sinceMs: number; pausedUntilMs: number; error: CallError } | null {
    if (this.#sinceMs === null || this.#lastError === null) return null
    return {
      sinceMs: this.#sinceMs,
      pausedUntilMs: this.#pausedUntilMs,
      error: this.#lastError,
    }
  }

  forget(): void {
    this.#sinceMs = null
    this.#pauses = 0
  }
}
