import type { CallError } from '../../base/errors.ts'
import type { CallOutcome, ConcurrencySnapshot } from './concurrency.ts'
import { callFailure, isUnavailable } from './errors.ts'
import type { Credentials } from './credentials.ts'
import type { CallTarget } from './errors.ts'
import { describeUnreachable, isUntrusted } from './unreachable.ts'
import type { SharedRateLimit } from './shared-rate-limit.ts'

/** The longest `Retry-After` that a worker honours: it then tries once, so that a wrong value cannot stop a run for hours. */
export const RETRY_AFTER_MAX_MS = 120_000

/** How long calls wait for a service that throttles them or cannot be reached. */
export interface WaitPolicy {
  /** The longest `Retry-After` that is honoured. */
  readonly retryAfterMaxMs: number
  /** The longest wait for a service that takes no call (`SYNC_THROTTLED_MAX_MS`). */
  readonly throttledMaxMs: number
}

export interface HealthOptions extends WaitPolicy {
  /** Closed by the caller. */
  readonly sharedRateLimit: SharedRateLimit
  /** Called with a sentence for an operator when the service cannot be reached, and with null when it can be again. */
  readonly onReach?: (problem: string | null) => void
}

/** What the calls of a process wait for. Times are those of this machine. */
export interface ServiceWait {
  /**
   * `throttled`: the service gets more calls than it takes; `rate_limit`: calls wait for slots of `SYNC_RATE_LIMIT` or of the
   * operator's pace;
   * `rate_limit_store`: they wait for the server that stores the slots; `away`: the service has accepted no call for a while,
   * and calls wait for their next attempt.
   */
  readonly kind: 'throttled' | 'rate_limit' | 'rate_limit_store' | 'away'
  /** Left out where the calls do not know. */
  readonly since?: Date
  /** When the next call is sent; null where that is not known, or one is under way. */
  readonly until?: Date | null
  /** When `SYNC_THROTTLED_MAX_MS` ends; null where that setting does not apply. */
  readonly givesUpAt?: Date | null
  /** Of `rate_limit`: most calls a second of all processes together, and whether an operator set them. */
  readonly callsPerSecond?: number
  readonly isPace?: boolean
  /** Of `rate_limit_store`: the server that does not respond. */
  readonly server?: string
  /** The last failure; left out for `rate_limit`, and where the service throttled another process. */
  readonly error?: CallError
}

/** The first pause where the service does not say how long; it doubles with each further one, up to the most. */
const PAUSE_BASE_MS = 250
const PAUSE_MAX_MS = 30_000
/** Tries that fail before an address that was never reached is given up. */
const TRIES_LEAST = 5
/** A service or a rate limit's store that has not responded for this time, a heartbeat, is reported; shorter failures are not. */
const AWAY_AFTER_MS = 5_000

interface Failing {
  readonly sinceMs: number
  readonly since: Date
  readonly error: CallError
}

/**
 * What all calls of a process know of the service: whether it throttles, refuses the credentials, or cannot be reached. Times are those
 * of `now`.
 *
 * A connection that cannot be made concerns the address, the network or a certificate, and no scope. An address that was reached
 * since the process began is right, and calls wait until it can be reached again; one that was never reached is wrong, and calls
 * give up.
 */
export class ServiceHealth {
  readonly #options: HealthOptions
  /** The last refused credentials: no call is made with them before a fresh start. Hundreds wait that would be refused as well. */
  #refused: { readonly credentials: Credentials; readonly error: CallError } | null = null
  /** Since when the service has throttled every call, and the last of its responses. */
  #throttled: Failing | null = null
  #pauses = 0
  #pausedAtMs = -Infinity
  #pausedUntilMs = -Infinity
  #wasReached = false
  #unreachedTries = 0
  /** Calls that wait for their next try, and the failure they wait for. */
  #waitingCalls = 0
  #failing: Failing | null = null

  constructor(options: HealthOptions) {
    this.#options = options
  }

  /** The clock of all times here. It stands still while an operator pauses the calls. */
  now(): number {
    return this.#options.sharedRateLimit.now()
  }

  /** Whether the service responded to a call since the process began. */
  get wasReached(): boolean {
    return this.#wasReached
  }

  /** To be called when a process begins to work on a run. */
  startAfresh(): void {
    this.#refused = null
    this.#endThrottling()
    this.#failing = null
  }

  /**
   * To be called before each call is sent. If the service has taken no call for `throttledMaxMs`, one call is allowed after each
   * pause, as a probe.
   * @throws CallError: the refusal where the credentials were refused; `refused`, `throttled` where the call is no probe, so that the run
   *   can finish
   */
  check(target: CallTarget, credentials: Credentials, nowMs: number): void {
    if (this.#refused?.credentials === credentials) throw this.#refused.error
    const { throttledMaxMs } = this.#options
    if (this.#throttled === null || nowMs - this.#throttled.sinceMs < throttledMaxMs) return
    if (nowMs >= this.#pausedUntilMs) return
    const detail = `skipped: the service has throttled every call for more than ${throttledMaxMs / 1000} s (SYNC_THROTTLED_MAX_MS)`
    throw callFailure(target, { shape: 'throttled', detail })
  }

  /** A call that was sent at `sentAtMs` succeeded. */
  succeeded(sentAtMs: number): void {
    this.#taken(sentAtMs)
    this.#failing = null
    this.#noteResponse(200)
  }

  /**
   * A call failed. If it was throttled, all processes pause.
   * @param sentAtMs when it was sent, or given up before that
   * @returns the outcome of the call
   */
  failed(error: CallError, credentials: Credentials, sentAtMs: number, nowMs: number): CallOutcome {
    const { kind, httpStatus } = error
    if (kind === 'credentials') this.#refused = { credentials, error }
    if (kind === 'unreachable') {
      this.#unreachedTries += 1
      if (this.#unreachedTries === 1) this.#options.onReach?.(describeUnreachable(error))
    } else if (httpStatus !== null) this.#noteResponse(httpStatus)
    if (kind === 'throttled') {
      const pauseMs = this.#pause(error, sentAtMs, nowMs)
      if (pauseMs > 0) void this.#options.sharedRateLimit.pauseAll(pauseMs)
      return 'overload'
    }
    if (error.errorStatus === 'timeout') return 'timeout'
    // A 503 without a time to retry may come from one bad host: it halves the calls in flight, and no process pauses.
    if (isUnavailable(error)) return 'overload'
    if (httpStatus !== null) this.#taken(sentAtMs)
    if (kind === 'refused') this.#failing = null
    return kind === 'retry' || kind === 'unreachable' ? 'transient' : kind
  }

  /** Whether enough tries failed to give up an address that was never reached; an untrusted certificate needs one. */
  isSure(error: CallError): boolean {
    return this.#unreachedTries >= TRIES_LEAST || isUntrusted(error)
  }

  /** A call failed with `error`, and waits for its next try. */
  beginWait(error: CallError, nowMs: number): void {
    this.#waitingCalls += 1
    this.#failing = { ...(this.#failing ?? beganAt(nowMs)), error }
  }

  /** The call is tried again, or given up. */
  endWait(): void {
    this.#waitingCalls -= 1
  }

  /**
   * What calls wait for; null where they are sent as they come, or there are none. The service is away when it has taken no call
   * for a while and most calls wait for their next try: while more are in flight, it may only be slow.
   */
  waiting(
    { permits, waiting }: Pick<ConcurrencySnapshot, 'permits' | 'waiting'>,
    nowMs: number,
  ): ServiceWait | null {
    if (permits + waiting + this.#waitingCalls === 0) return null
    const { throttledMaxMs, sharedRateLimit } = this.#options
    const { pause, waiting: slots, callsPerSecond, isPace, silent } = sharedRateLimit.snapshot()
    if (slots > 0 && pause === null && silent !== null && silent.silentForMs >= AWAY_AFTER_MS)
      return {
        kind: 'rate_limit_store',
        since: dateIn(-silent.silentForMs),
        server: silent.server,
      }
    const wait = (kind: ServiceWait['kind'], { sinceMs, since, error }: Failing): ServiceWait => ({
      kind,
      since,
      givesUpAt: dateIn(sinceMs + throttledMaxMs - nowMs),
      error,
    })
    const leftMs = Math.max(this.#pausedUntilMs - nowMs, pause?.leftMs ?? 0)
    const until = leftMs > 0 ? dateIn(leftMs) : null
    if (this.#throttled !== null) return { ...wait('throttled', this.#throttled), until }
    if (slots > 0 && pause !== null)
      return { kind: 'throttled', since: dateIn(-pause.pausedForMs), until }
    if (slots > 0 && callsPerSecond !== null) return { kind: 'rate_limit', callsPerSecond, isPace }
    const failing = this.#failing
    if (failing === null || nowMs - failing.sinceMs < AWAY_AFTER_MS) return null
    if (this.#waitingCalls <= permits) return null
    const isWaitedFor = failing.error.kind === 'unreachable' && this.#wasReached
    return { ...wait('away', failing), ...(isWaitedFor ? {} : { givesUpAt: null }) }
  }

  /** A call got a response. The statuses left out may be those of a proxy that does not reach the service. */
  #noteResponse(httpStatus: number): void {
    if (httpStatus === 407 || httpStatus >= 500) return
    this.#wasReached = true
    if (this.#unreachedTries > 0) this.#options.onReach?.(null)
    this.#unreachedTries = 0
  }

  /** The service took a call; one that was sent before the last pause says nothing new. */
  #taken(sentAtMs: number): void {
    if (sentAtMs >= this.#pausedAtMs) this.#endThrottling()
  }

  #endThrottling(): void {
    this.#throttled = null
    this.#pauses = 0
  }

  /** @returns how long all calls pause: as the service says, and the longer the more pauses did not help */
  #pause(error: CallError, sentAtMs: number, nowMs: number): number {
    const { retryAfterMaxMs, throttledMaxMs } = this.#options
    const { sinceMs } = (this.#throttled = { ...(this.#throttled ?? beganAt(nowMs)), error })
    const retryAfterMs = Math.min(error.retryAfterMs ?? 0, retryAfterMaxMs)
    let pauseMs = retryAfterMs
    // Sixteen calls that are throttled together are one pause.
    if (sentAtMs >= this.#pausedAtMs) {
      this.#pausedAtMs = nowMs
      this.#pauses += 1
      const isHonoured = error.retryAfterMs !== null && this.#pauses === 1
      const growingMs = Math.min(PAUSE_MAX_MS, PAUSE_BASE_MS * 2 ** (this.#pauses - 1))
      if (!isHonoured) pauseMs = Math.max(retryAfterMs, growingMs)
    }
    // The last call before it is given up is made when it is time to.
    const leftMs = sinceMs + throttledMaxMs - nowMs
    if (leftMs > 0) pauseMs = Math.min(pauseMs, leftMs)
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + pauseMs)
    return pauseMs
  }
}

function beganAt(sinceMs: number): Omit<Failing, 'error'> {
  return { sinceMs, since: new Date() }
}

/** The time of this machine in `ms` from now. */
function dateIn(ms: number): Date {
  return new Date(Date.now() + ms)
}
