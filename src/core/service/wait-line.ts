import { onAbort } from '../../base/abort.ts'

/** Priority of a caller that waits: `high` is for runs that a person waits for. */
export type Priority = 'high' | 'normal'

/** After this many callers of high priority in a row, one of normal priority is served, so that neither starves. */
const HIGH_IN_A_ROW = 3

/** Callers that wait: how to end the wait of each, and the units that it waits for. */
export type Waiting = Map<(reason?: Error) => void, number>

/** Adds a caller to those that wait. @throws the signal's reason when it aborts first */
export function waitAmong(waiting: Waiting, units: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let forget = (): void => {}
    const end = (reason?: Error) => {
      forget()
      waiting.delete(end)
      if (reason === undefined) resolve()
      else reject(reason)
    }
    waiting.set(end, units)
    if (signal !== undefined) forget = onAbort(signal, () => end(signal.reason as Error))
  })
}

/** A queue of callers: high priority first, and among equals first come, first served. */
export class WaitLine {
  readonly #high: Waiting = new Map()
  readonly #normal: Waiting = new Map()
  #highInARow = 0

  get length(): number {
    return this.#high.size + this.#normal.size
  }

  /** Waits until `letOneGo` lets the caller go. @throws the signal's reason when it aborts first */
  join(signal?: AbortSignal, priority: Priority = 'normal'): Promise<void> {
    return waitAmong(priority === 'high' ? this.#high : this.#normal, 1, signal)
  }

  /** Resumes the next caller. @returns false when no caller waits */
  letOneGo(): boolean {
    const mayBeNormal = this.#normal.size > 0
    const isNormal = mayBeNormal && (this.#high.size === 0 || this.#highInARow >= HIGH_IN_A_ROW)
    const [first] = (isNormal ? this.#normal : this.#high).keys()
    if (first === undefined) return false
    this.#highInARow = mayBeNormal && !isNormal ? this.#highInARow + 1 : 0
    first()
    return true
  }

  /** Rejects all that wait with `reason`. */
  dismiss(reason: Error): void {
    for (const waiting of [this.#high, this.#normal]) for (const end of waiting.keys()) end(reason)
  }
}
