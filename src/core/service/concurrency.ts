import { DrainingError } from '../../base/errors.ts'
import { WaitLine } from './wait-line.ts'
import type { Priority } from './wait-line.ts'

/**
 * How a call went: `given_up` by us, `transient` where another try may succeed; `refused`, `credentials` and `unknown` as in
 * FailureKind. Only the first three say something of the load of the service.
 */
export type CallOutcome =
  | 'success'
  | 'overload'
  | 'timeout'
  | 'transient'
  | 'refused'
  | 'credentials'
  | 'unknown'
  | 'given_up'

export type ConcurrencySnapshot = Readonly<ReturnType<ConcurrencyLimit['snapshot']>>

/** One new latency counts this much in the average: about the last twenty calls count. */
const EWMA_WEIGHT = 0.1
/** Shortest time between two halvings: the calls already in flight must not halve it again. */
const MIN_HALVING_MS = 1000

/**
 * The limit of calls in flight in one process; callers wait in a WaitLine. The service's limits are not known
 * (docs/SERVICE.md, What is not known), so the limit adapts (AIMD): it starts at the user's own number, halves when the service is overloaded or a call times out,
 * and rises by one for each `limit` successes.
 */
export class ConcurrencyLimit {
  readonly #max: number
  readonly #now: () => number
  readonly #queue = new WaitLine()
  #limit: number
  #permits = 0
  #successes = 0
  #ewmaMs: number | null = null
  #halvedAtMs = -Infinity
  #closed: DrainingError | null = null

  /** @param now a clock in milliseconds that never goes back */
  constructor(maxConcurrency: number, now: () => number = () => performance.now()) {
    this.#max = maxConcurrency
    this.#limit = maxConcurrency
    this.#now = now
  }

  /**
   * Takes a permit: null if it was taken at once, else the wait for it. Each permit is given back with `leave`.
   * @throws the signal's reason when it aborts first; DrainingError when it closes
   */
  enter(signal?: AbortSignal, priority?: Priority): Promise<void> | null {
    if (this.#closed !== null) throw this.#closed
    if (this.#permits >= this.#limit) return this.#queue.join(signal, priority)
    this.#permits += 1
    return null
  }

  /** Takes a permit back that was given back while the call waited for memory. */
  resume(): void {
    this.#permits += 1
  }

  /** Gives a permit back. */
  leave(): void {
    this.#permits -= 1
    this.#letIn()
  }

  /** Learns from a call that ended. @param latencyMs how long the service took */
  learn(outcome: CallOutcome, latencyMs: number): void {
    if (outcome === 'overload' || outcome === 'timeout') this.#halve()
    else if (outcome === 'success') {
      const average = this.#ewmaMs ?? latencyMs
      this.#ewmaMs = average + EWMA_WEIGHT * (latencyMs - average)
      this.#rise()
    }
  }

  snapshot() {
    return {
      /** Calls that hold a permit: those in flight, and those that wait for their slot of the shared rate limit. */
      permits: this.#permits,
      /** Most calls that hold a permit at present: between 1 and the user's own number. */
      limit: this.#limit,
      /** Calls that wait for a permit. */
      waiting: this.#queue.length,
      /** Moving average of what a call takes; null before the first. */
      latencyMsEwma: this.#ewmaMs,
    }
  }

  /** Rejects all that wait; permits that are out may still be given back. */
  close(): void {
    this.#closed = new DrainingError('the client of the service is closed')
    this.#queue.dismiss(this.#closed)
  }

  #letIn(): void {
    while (this.#permits < this.#limit && this.#queue.letOneGo()) this.#permits += 1
  }

  #halve(): void {
    const now = this.#now()
    if (now - this.#halvedAtMs < Math.max(MIN_HALVING_MS, this.#ewmaMs ?? 0)) return
    this.#halvedAtMs = now
    this.#limit = Math.max(1, Math.floor(this.#limit / 2))
    this.#successes = 0
  }

  #rise(): void {
    this.#successes += 1
    if (this.#successes < this.#limit) return
    this.#successes = 0
    this.#limit = Math.min(this.#max, this.#limit + 1)
    this.#letIn()
  }
}
