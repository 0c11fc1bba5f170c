import { onAbort } from './wait.ts'

/** Units that callers take and give back. Callers that wait are served in their order. */
export class Semaphore {
  readonly #max: number
  readonly #onChange: () => void
  /** How to end each wait, and the units that it is for. */
  readonly #waiting = new Map<(reason?: Error) => void, number>()
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
   * Takes units in the order of the callers. A caller that needs more than there are in all takes them when no other has any.
   * @returns null if they were taken at once, else the wait for them, which rejects with the signal's reason when that aborts
   */
  take(units: number, signal?: AbortSignal): Promise<void> | null {
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    if (this.#waiting.size === 0 && this.#fits(units)) {
      this.#taken += units
      this.#onChange()
      return null
    }
    return new Promise((resolve, reject) => {
      let forget = (): void => {}
      const end = (reason?: Error) => {
        forget()
        this.#waiting.delete(end)
        if (reason === undefined) resolve()
        else reject(reason)
      }
      this.#waiting.set(end, units)
      if (signal !== undefined)
        forget = onAbort(signal, () => {
          end(signal.reason as Error)
          this.change(0)
        })
      this.#onChange()
    })
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
    return Math.min(units, this.#max) <= this.#max - this.#taken
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
  #wasFull = false
  /** Called when the budget is no longer full; the client sends calls then. */
  onFree: () => void = () => {}

  constructor(bytesMax = BYTES_MAX) {
    this.#bytes = new Semaphore(bytesMax, () => this.#changed())
  }

  /** True while no call may be sent: a later response must not take what a large body waits for. */
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

  #changed(): void {
    const wasFull = this.#wasFull
    this.#wasFull = this.isFull
    if (this.isFull) for (const commit of this.#commits) commit()
    else if (wasFull) this.onFree()
  }
}

/** What one caller holds of the budget. */
export class HeldMemory {
  readonly #budget: Semaphore
  #bytes = 0
  #wait: AbortController | null = null

  constructor(budget: Semaphore) {
    this.#budget = budget
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Holds so many bytes from now on. Never waits, and ends a wait of `take`. */
  resize(bytes: number): void {
    this.#wait?.abort()
    const change = bytes - this.#bytes
    this.#bytes = bytes
    if (change !== 0) this.#budget.change(change)
  }

  /**
   * Takes memory for a body that is about to be received. A caller that holds memory already does not wait: others may wait
   * for what it holds.
   * @returns null if it was taken at once, else the wait for it, which rejects with the signal's reason when that aborts
   */
  take(bytes: number, signal?: AbortSignal): Promise<void> | null {
    if (this.#bytes > 0) {
      this.resize(this.#bytes + bytes)
      return null
    }
    this.#wait = new AbortController()
    const { signal: ended } = this.#wait
    const wait = this.#budget.take(bytes, signal ? AbortSignal.any([signal, ended]) : ended)
    if (wait === null) this.#bytes = bytes
    return wait && wait.then(() => void (this.#bytes = bytes))
  }
}
