import { onAbort } from './wait.ts'

interface Waiting {
  resolve(): void
  reject(reason: unknown): void
}

/** A line of callers who wait for something: strictly first come, first served. */
export class WaitLine {
  // A Set keeps the order of arrival and lets the aborted leave from the middle at no cost.
  readonly #waiting = new Set<Waiting>()

  get length(): number {
    return this.#waiting.size
  }

  /** Waits for its turn. @throws the signal's reason when it aborts first: the place is given up */
  join(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal === undefined) {
        this.#waiting.add({ resolve, reject })
        return
      }
      let forget = (): void => {}
      const waiting = {
        resolve: () => {
          forget()
          resolve()
        },
        reject: (reason: unknown) => {
          forget()
          reject(reason as Error)
        },
      }
      this.#waiting.add(waiting)
      forget = onAbort(signal, () => {
        this.#waiting.delete(waiting)
        reject(signal.reason as Error)
      })
    })
  }

  /** Lets the first one go on; false when nobody waits. */
  letOneGo(): boolean {
    for (const first of this.#waiting) {
      this.#waiting.delete(first)
      first.resolve()
      return true
    }
    return false
  }

  /** Sends everybody away with `reason`. */
  dismiss(reason: Error): void {
    const all = [...this.#waiting]
    this.#waiting.clear()
    for (const waiting of all) waiting.reject(reason)
  }
}
