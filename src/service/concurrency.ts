import { DrainingError } from '../errors.ts'
import { WaitLine } from './wait.ts'
import type { Priority } from './wait.ts'

/** How a call went, as far as the load of the service is concerned. `other` says nothing of the service's load. */
export type Outcome = 'success' | 'overload' | 'timeout' | 'other'

export interface ConcurrencySnapshot {
  /** Calls that hold a permit, those waiting for their slot of the shared rate limit included. */
  readonly inFlight: number
  /** Most calls in flight at present: between 1 and the user's own number. */
  readonly limit: number
  /** Calls that wait for a permit. */
  readonly waiting: number
  /** Moving average of what a call takes; null before the first. */
  readonly latencyMsEwma: number | null
}

/** One new latency counts this much in the average: about the last twenty calls speak. */
const EWMA_WEIGHT = 0.1
/** Slower than this many times the best average, and by this much more, is a latency jump. */
const JUMP_FACTOR = 4
const JUMP_MS = 500
/** Where calls hold their permits longer than this, some are kept for calls of high priority, which would wait too long. */
const LONG_HELD_MS = 1000
/** One of so many. */
const KEPT_PART = 8
/** Shortest time between two halvings: the calls already in flight must not halve it again. */
const MIN_HALVING_MS = 1000

/**
 * The limit of calls in flight in one process: at most `limit` calls in flight, in the order of WaitLine. The service's limits
 * are not shown (service-api.md, Limits), so the limit finds itself (AIMD): it starts at the user's own
 * number, halves on overload or a latency jump, and rises by one for each `limit` successes. An eighth of it is kept for
 * calls of high priority while permits are held for more than a second in the mean; otherwise one is free soon enough.
 */
export class ConcurrencyLimit {
  readonly #max: number
  readonly #now: () => number
  readonly #line = new WaitLine()
  #limit: number
  readonly #inFlight = { high: 0, normal: 0 }
  #heldMsEwma = 0
  #successes = 0
  #ewmaMs: number | null = null
  #bestMs = Infinity
  #halvedAtMs = -Infinity
  #closed = false

  /** @param now a clock in milliseconds that never goes back */
  constructor(maxConcurrency: number, now: () => number = () => performance.now()) {
    this.#max = maxConcurrency
    this.#limit = maxConcurrency
    this.#now = now
  }

  /**
   * Asks for a permit: null when it is there at once, else the wait for it. Each permit is given
   * back with `leave`.
   * @throws the signal's reason when it aborts first; DrainingError when it closes
   */
  enter(signal?: AbortSignal, priority: Priority = 'normal'): Promise<void> | null {
    if (this.#closed) throw closedError()
    if (this.#isFreeFor(priority) && (priority === 'high' || this.#line.length === 0)) {
      this.#inFlight[priority] += 1
      return null
    }
    return this.#line.join(signal, priority)
  }

  /** Gives a permit back, telling how the call went, how long the service took and how long the permit was held. */
  leave(
    outcome: Outcome,
    latencyMs: number,
    { priority, heldMs }: { priority: Priority; heldMs: number } = {
      priority: 'normal',
      heldMs: latencyMs,
    },
  ): void {
    this.#inFlight[priority] -= 1
    this.#heldMsEwma += EWMA_WEIGHT * (heldMs - this.#heldMsEwma)
    this.learn(outcome, latencyMs)
  }

  /** Hears how a call went whose permit was given back as `other`, before its answer was read. */
  learn(outcome: Outcome, latencyMs: number): void {
    if (outcome === 'overload') this.#halve()
    else if (outcome !== 'other') {
      this.#learnLatency(latencyMs)
      // Halving what does not help must end: the slower answer becomes what is compared with.
      if (this.#hasJumped()) {
        if (this.#halve()) this.#bestMs *= 2
      } else if (outcome === 'success') this.#rise()
    }
    this.#letIn()
  }

  snapshot(): ConcurrencySnapshot {
    return {
      inFlight: this.#inFlight.high + this.#inFlight.normal,
      limit: this.#limit,
      waiting: this.#line.length,
      latencyMsEwma: this.#ewmaMs,
    }
  }

  /** Sends away who waits; permits that are out may still be given back. */
  close(): void {
    this.#closed = true
    this.#line.dismiss(closedError())
  }

  #letIn(): void {
    while (this.#isFreeFor('high')) {
      const priority = this.#line.letOneGo({ onlyHigh: !this.#isFreeFor('normal') })
      if (priority === null) return
      this.#inFlight[priority] += 1
    }
  }

  #isFreeFor(priority: Priority): boolean {
    const { high, normal } = this.#inFlight
    if (high + normal >= this.#limit) return false
    const isKept = priority === 'normal' && this.#heldMsEwma > LONG_HELD_MS && this.#limit > 1
    return !isKept || normal < this.#limit - Math.ceil(this.#limit / KEPT_PART)
  }

  #learnLatency(latencyMs: number): void {
    const average = this.#ewmaMs ?? latencyMs
    // One huge answer, or one lost packet, is not the load of the service.
    const sample = Math.min(latencyMs, average * JUMP_FACTOR + JUMP_MS)
    this.#ewmaMs = average + EWMA_WEIGHT * (sample - average)
    this.#bestMs = Math.min(this.#bestMs, this.#ewmaMs)
  }

  #hasJumped(): boolean {
    const average = this.#ewmaMs ?? 0
    return average > this.#bestMs * JUMP_FACTOR && average > this.#bestMs + JUMP_MS
  }

  #halve(): boolean {
    const now = this.#now()
    if (now - this.#halvedAtMs < Math.max(MIN_HALVING_MS, this.#ewmaMs ?? 0)) return false
    this.#halvedAtMs = now
    this.#limit = Math.max(1, Math.floor(this.#limit / 2))
    this.#successes = 0
    return true
  }

  #rise(): void {
    this.#successes += 1
    if (this.#successes < this.#limit) return
    this.#successes = 0
    this.#limit = Math.min(this.#max, this.#limit + 1)
  }
}

function closedError(): DrainingError {
  return new DrainingError('the client of the service is closed')
}

/** The permit of one call, and how long the service took with it. */
export class Permit {
  readonly #concurrency: ConcurrencyLimit
  readonly #priority: Priority
  readonly #heldSince = performance.now()
  #since: number | null = null
  #sentAt: number | null = null
  #answeredAt: number | null = null
  #isHeld = true

  constructor(concurrency: ConcurrencyLimit, priority: Priority) {
    this.#concurrency = concurrency
    this.#priority = priority
  }

  /** Zero for a call that was never made. */
  get serviceMs(): number {
    if (this.#sentAt === null) return 0
    return (this.#answeredAt ?? performance.now()) - this.#sentAt
  }

  /** When the call was made, by `performance.now`. */
  get sentAtMs(): number {
    return this.#sentAt ?? performance.now()
  }

  /** What the call waited for its slot; null for one that was never made. */
  get waitedMs(): number | null {
    return this.#sentAt === null ? null : this.#sentAt - (this.#since ?? this.#sentAt)
  }

  waitsForSlot(): void {
    this.#since = performance.now()
  }

  /** The call is made. @returns the milliseconds that it waited for its slot */
  sent(): number {
    this.#sentAt = performance.now()
    return this.waitedMs ?? 0
  }

  /** @param heldUpMs what of its time was our doing */
  answered(heldUpMs: number): void {
    this.#answeredAt = performance.now() - heldUpMs
  }

  /** Before it is known how the call went. */
  giveBack(): void {
    this.#isHeld = false
    this.#concurrency.leave('other', 0, this.#held())
  }

  ended(outcome: Outcome): void {
    this.#answeredAt ??= performance.now()
    if (this.#isHeld) this.#concurrency.leave(outcome, this.serviceMs, this.#held())
    else this.#concurrency.learn(outcome, this.serviceMs)
  }

  #held() {
    return { priority: this.#priority, heldMs: performance.now() - this.#heldSince }
  }
}
