/** Large bodies that are received or wait to be read hold no more than this in one process; a larger one comes alone. */
const BYTES_MAX = 64_000_000

interface Waiting {
  readonly bytes: number
  readonly goOn: () => void
}

/** Room for large bodies, first come, first served: any number of calls may be in flight, and any of them may bring one. */
export class BodyRoom {
  readonly #bytesMax: number
  readonly #line = new Set<Waiting>()
  #free: number

  constructor(bytesMax: number = BYTES_MAX) {
    this.#bytesMax = bytesMax
    this.#free = bytesMax
  }

  /** Asks for room. `goOn` is called when it is there, at once or later. @returns what gives the room, or the wait, up */
  take(wanted: number, goOn: () => void): () => void {
    const bytes = Math.min(wanted, this.#bytesMax)
    let taken = 0
    const waiting = {
      bytes,
      goOn: () => {
        taken = bytes
        goOn()
      },
    }
    this.#line.add(waiting)
    this.#letIn()
    return () => {
      this.#line.delete(waiting)
      this.#free += taken
      taken = 0
      this.#letIn()
    }
  }

  #letIn(): void {
    for (const first of this.#line) {
      if (first.bytes > this.#free) return
      this.#line.delete(first)
      this.#free -= first.bytes
      first.goOn()
    }
  }
}
