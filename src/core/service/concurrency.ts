import { DrainingError } from '../../base/errors.ts'
import { MemoryBudget } from './memory.ts'
import { WaitLine } from './wait.ts'
import type { Priority } from './wait.ts'

/** How a call went, as far as it shows the load of the service; `other` shows nothing of it. */
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
/** If calls hold a permit for longer than this on average, one of eight is reserved for calls of high priority. */
const LONG_HELD_MS = 1000
const RESERVED_PART = 8
/** Shortest time between two halvings: the calls already in flight must not halve it again. */
const MIN_HALVING_MS = 1000

/**
 * The limit of calls in flight in one process; callers wait in a WaitLine. The service's limits are not shown (service-api.md,
 * Limits), so the limit adapts (AIMD): it starts at the user's own number, halves on overload or a latency jump, and rises by one
 * for each `limit` successes. An eighth of the permits is reserved for calls of high priority while permits are held for more
 * than a second on average; otherwise one is free soon enough.
 */
export class ConcurrencyLimit {
  readonly #max: number
  readonly #now: () => number
  readonly #memory: MemoryBudget
  readonly #line = new WaitLine()
  /** Callers that hold memory: they go first, and wait for no memory. */
  readonly #holders = new WaitLine()
  #limit: number
  readonly #inFlight = { high: 0, normal: 0 }
  #heldMsEwma = 0
  #successes = 0
  #ewmaMs: number | null = null
  #bestMs = Infinity
  #halvedAtMs = -Infinity
  #closed: DrainingError | null = null

  /**
   * @param memory while it is full, only callers that hold some of it get a permit
   * @param now a clock in milliseconds that never goes back
   */
  constructor(
    maxConcurrency: number,
    memory = new MemoryBudget(),
    now: () => number = () => performance.now(),
  ) {
    this.#memory = memory
    memory.onFree = () => this.#letIn()
    this.#max = maxConcurrency
    this.#limit = maxConcurrency
    this.#now = now
  }

  /**
   * Takes a permit: null if it was taken at once, else the wait for it. Each permit is given back with `leave`.
   * @param holdsMemory whether others may wait for what the caller holds
   * @throws the signal's reason when it aborts first; DrainingError when it closes
   */
  enter(
    signal?: AbortSignal,
    priority: Priority = 'normal',
    holdsMemory = false,
  ): Promise<void> | null {
    if (this.#closed !== null) throw this.#closed
    const line = holdsMemory ? this.#holders : this.#line
    const isNext = priority === 'high' || line.length === 0
    const isFree = holdsMemory
      ? this.#isFreeFor('high')
      : isNext && !this.#memory.isFull && this.#isFreeFor(priority)
    if (!isFree) return line.join(signal, priority)
    this.#inFlight[priority] += 1
    return null
  }

  /** Takes a permit back that was given back while the call waited for memory. */
  resume(priority: Priority): void {
    this.#inFlight[priority] += 1
  }

  /** Gives a permit back that was held for so many milliseconds. */
  leave(priority: Priority, heldMs: number): void {
    this.#inFlight[priority] -= 1
    this.#heldMsEwma += EWMA_WEIGHT * (heldMs - this.#heldMsEwma)
    this.#letIn()
  }

  /** Learns from a call that ended. @param latencyMs how long the service took */
  learn(outcome: Outcome, latencyMs: number): void {
    if (outcome === 'overload') this.#halve()
    else if (outcome !== 'other') {
      this.#learnLatency(latencyMs)
      // If latency stays high after halving, it becomes the new baseline. Otherwise the limit would fall to 1.
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
      waiting: this.#line.length + this.#holders.length,
      latencyMsEwma: this.#ewmaMs,
    }
  }

  /** Rejects all that wait; permits that are out may still be given back. */
  close(): void {
    this.#closed = new DrainingError('the client of the service is closed')
    for (const line of [this.#line, this.#holders]) line.dismiss(this.#closed)
  }

  #letIn(): void {
    while (this.#isFreeFor('high')) {
      const priority =
        this.#holders.letOneGo() ??
        (this.#memory.isFull ? null : this.#line.letOneGo({ onlyHigh: !this.#isFreeFor('normal') }))
      if (priority === null) return
      this.#inFlight[priority] += 1
    }
  }

  #isFreeFor(priority: Priority): boolean {
    const { high, normal } = this.#inFlight
    if (high + normal >= this.#limit) return false
    const hasReserve = priority === 'normal' && this.#heldMsEwma > LONG_HELD_MS && this.#limit > 1
    return !hasReserve || normal < this.#limit - Math.ceil(this.#limit / RESERVED_PART)
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
