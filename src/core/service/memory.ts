import { waitAmong } from './wait-line.ts'
import type { Waiting } from './wait-line.ts'

/** Units that callers take and give back. Callers that wait are served in their order. */
export class Semaphore {
  readonly #max: number
  readonly #onChange: () => void
  readonly #waiting: Waiting = new Map()
  #taken = 0

  /** @param onChange called after each change of `isFull`, and others */
  constructor(max: number, onChange: () => void = () => {}) {
    this.#max = max
    this.#onChange = onChange
  }

  /** True where no unit is left, or a caller waits for more than are left. */
  get isFull(): boolean {
    return this.#taken >= this.#max || this.#waiting.size > 0
  }

  /**
   * Takes units in the order of the callers; none are taken as soon as one is free. A caller that needs more than there are in
   * all takes them when no other has any.
   * @returns null if they were taken at once, else the wait for them, which rejects with the signal's reason when that aborts
   */
  take(units: number, signal?: AbortSignal): Promise<void> | null {
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    if (this.#waiting.size === 0 && this.#fits(units)) {
      if (units > 0) this.change(units)
      return null
    }
    const wait = waitAmong(this.#waiting, units, signal)
    this.#onChange()
    // The next caller may need less than the one that gave up.
    wait.catch(() => this.change(0))
    return wait
  }

  /** Takes units without waiting; if negative, gives them back. */
  change(units: number): void {
    this.#taken += units
    for (const [end, first] of this.#waiting) {
      if (!this.#fits(first)) break
      this.#taken += first
      end()
    }
    this.#onChange()
  }

  #fits(units: number): boolean {
    return Math.min(Math.max(units, 1), this.#max) <= this.#max - this.#taken
  }
}

/** Bytes of responses that one process may hold until they are committed. */
const BYTES_MAX = 64_000_000

/**
 * Memory for responses that are received and not committed yet, in bytes: one semaphore for all calls and batches of a process.
 * Without it, memory would grow with every response where PostgreSQL is slower than the service. While it is full, no call is
 * sent, and every batch commits at once, since each could otherwise wait for the commit of another one.
 */
export class MemoryBudget {
  readonly #bytes: Semaphore
  readonly #commits = new Set<() => void>()

  constructor(bytesMax = BYTES_MAX) {
    this.#bytes = new Semaphore(bytesMax, () => {
      if (this.isFull) for (const commit of this.#commits) commit()
    })
  }

  /** True while no call is sent: a later response must not take what a large body waits for. */
  get isFull(): boolean {
    return this.#bytes.isFull
  }

  /** @param bytes held from the start: a caller that holds memory never waits for more */
  open(bytes = 0): HeldMemory {
    const held = new HeldMemory(this.#bytes)
    held.resize(bytes)
    return held
  }

  /** Calls `commit` on every change while the budget is full. Returns the function that unregisters it. */
  whenFull(commit: () => void): () => void {
    this.#commits.add(commit)
    return () => void this.#commits.delete(commit)
  }
}

/** What one caller holds of the budget. A caller that holds memory waits for none: others may wait for what it holds. */
export class HeldMemory {
  readonly #budget: Semaphore
  #bytes = 0
  #resizes = 0

  constructor(budget: Semaphore) {
    this.#budget = budget
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Holds so many bytes from now on. Never waits; memory that `take` still waits for is given back once it is there. */
  resize(bytes: number): void {
    this.#resizes += 1
    const change = bytes - this.#bytes
    this.#bytes = bytes
    if (change !== 0) this.#budget.change(change)
  }

  /**
   * Waits until a call may be sent.
   * @returns null if it may at once, else the wait, which rejects with the signal's reason when that aborts
   */
  untilFree(signal?: AbortSignal): Promise<void> | null {
    return this.#bytes > 0 ? null : this.#budget.take(0, signal)
  }

  /**
   * Takes memory for a body that is about to be received.
   * @returns null if it was taken at once, else the wait for it, which rejects with the signal's reason when that aborts
   */
  take(bytes: number, signal?: AbortSignal): Promise<void> | null {
    if (this.#bytes > 0) {
      this.resize(this.#bytes + bytes)
      return null
    }
    const wait = this.#budget.take(bytes, signal)
    if (wait === null) this.#bytes = bytes
    const resizes = this.#resizes
    return (
      wait &&
      wait.then(() => {
        if (this.#resizes === resizes) this.#bytes = bytes
        else this.#budget.change(-bytes)
      })
    )
  }
}
