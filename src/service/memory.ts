import { onAbort } from './wait.ts'

/** Bytes of responses that one process may hold until they are committed. */
const BYTES_MAX = 64_000_000

/**
 * Memory for responses that are received and not committed yet, in bytes: one budget for all calls and batches of a process.
 * Without it, memory would grow with every response where PostgreSQL is slower than the service. While it is full, no call is
 * sent, and every batch commits at once, since each could otherwise wait for the commit of another one.
 */
export class MemoryBudget {
  readonly #bytesMax: number
  readonly #waiting = new Set<{ bytes: number; resume: () => void }>()
  readonly #commits = new Set<() => void>()
  #bytes = 0
  /** Called when the budget is no longer full; the client sends calls then. */
  onFree: () => void = () => {}

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /** True while no call may be sent: a later response must not take what a large body waits for. */
  get isFull(): boolean {
    return this.#bytes >= this.#bytesMax || this.#waiting.size > 0
  }

  /** @param bytes held from the start: a caller that holds memory never waits for more */
  open(bytes = 0): HeldMemory {
    const held = new HeldMemory(this)
    held.resize(bytes)
    return held
  }

  /** Calls `commit` on every change while the budget is full. Returns the function that unregisters it. */
  whenFull(commit: () => void): () => void {
    this.#commits.add(commit)
    return () => void this.#commits.delete(commit)
  }

  /** Counts bytes that were taken or, if negative, given back. */
  change(bytes: number): void {
    const wasFull = this.isFull
    this.#bytes += bytes
    this.#changed(wasFull)
  }

  /** Whether so many bytes can be taken at once; of a body larger than the budget, whether nothing else is held. */
  fits(bytes: number): boolean {
    return this.#waiting.size === 0 && this.#isFreeFor(bytes)
  }

  /** Calls `resume` when so many bytes were taken, in the order of the callers. Returns the function that ends the wait. */
  join(bytes: number, resume: () => void): () => void {
    const waiting = { bytes, resume }
    this.#waiting.add(waiting)
    this.#changed(true)
    return () => {
      if (this.#waiting.delete(waiting)) this.#changed(true)
    }
  }

  #isFreeFor(bytes: number): boolean {
    return Math.min(bytes, this.#bytesMax) <= this.#bytesMax - this.#bytes
  }

  #changed(wasFull: boolean): void {
    for (const first of this.#waiting) {
      if (!this.#isFreeFor(first.bytes)) break
      this.#waiting.delete(first)
      this.#bytes += first.bytes
      first.resume()
    }
    if (this.isFull) for (const commit of this.#commits) commit()
    else if (wasFull) this.onFree()
  }
}

/** What one caller holds of the budget. */
export class HeldMemory {
  readonly #budget: MemoryBudget
  #bytes = 0
  #endWait: () => void = () => {}

  constructor(budget: MemoryBudget) {
    this.#budget = budget
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Holds so many bytes from now on. Never waits, and ends a wait of `take`, which then never settles. */
  resize(bytes: number): void {
    this.#endWait()
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
    if (this.#bytes > 0 || this.#budget.fits(bytes)) {
      this.resize(this.#bytes + bytes)
      return null
    }
    return new Promise((resolve, reject) => {
      let forget = (): void => {}
      const leave = this.#budget.join(bytes, () => {
        forget()
        this.#bytes = bytes
        resolve()
      })
      this.#endWait = () => {
        forget()
        leave()
      }
      if (signal !== undefined)
        forget = onAbort(signal, () => {
          leave()
          reject(signal.reason as Error)
        })
    })
  }
}
