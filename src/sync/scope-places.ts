import { WaitLine } from '../collab-api/wait-line.ts'

/**
 * Scopes that are asked for at a time, for each call that may be in flight: enough to have the next call ready, and to go on
 * while others wait for another try. What is kept of a scope that is begun is the dearest part of a run: were all of all
 * batches begun at once, the garbage collector would do little else than move them about.
 */
const SCOPES_A_CALL = 8

/** The scopes that a process asks for at a time, batch after batch in the order in which they came. */
export class ScopePlaces {
  readonly #places: Places
  readonly #turn = new Places(1)

  /** @param callsMax most calls in flight */
  constructor(callsMax: number) {
    this.#places = new Places(callsMax * SCOPES_A_CALL)
  }

  /**
   * Works on each scope of a batch as soon as there is a place.
   * @param work must not fail
   * @throws the signal's reason when it aborts before all are begun, after those that are begun have ended
   */
  async each<T>(
    scopes: readonly T[],
    signal: AbortSignal,
    work: (scope: T) => Promise<void>,
  ): Promise<void> {
    const begun: Promise<void>[] = []
    const giveBack = () => this.#places.giveBack()
    try {
      await this.#turn.take(signal)
      try {
        for (const scope of scopes) {
          const wait = this.#places.take(signal)
          if (wait !== null) await wait
          begun.push(work(scope).then(giveBack))
        }
      } finally {
        this.#turn.giveBack()
      }
    } finally {
      await Promise.all(begun)
    }
  }
}

class Places {
  #free: number
  readonly #line = new WaitLine()

  constructor(free: number) {
    this.#free = free
  }

  /** Null where there is a place, else the wait for one. @throws the signal's reason when it aborts first */
  take(signal: AbortSignal): Promise<void> | null {
    signal.throwIfAborted()
    if (this.#free === 0) return this.#line.join(signal)
    this.#free -= 1
    return null
  }

  /** A place that somebody waits for is handed over, and never free in between. */
  giveBack(): void {
    if (!this.#line.letOneGo()) this.#free += 1
  }
}
