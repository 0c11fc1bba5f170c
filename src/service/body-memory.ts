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

/** Where a large body waits until it may come. */
export interface LargePlace {
  /** Never rejects. @param bytes of the body */
  enter(bytes: number): Promise<void>
}

export const NO_WAIT: LargePlace = { enter: () => Promise.resolve() }

/** The place of one call's body, if it is a large one. */
export class BodyPlace implements LargePlace {
  readonly #room: BodyRoom
  readonly #further: () => Promise<void> | null
  #leave: () => void = () => {}
  /** How long the body was held up. */
  heldUpMs = 0

  /** @param further what to wait for besides when there is room: null for nothing; its failure is as good as its end */
  constructor(room: BodyRoom, further: () => Promise<void> | null) {
    this.#room = room
    this.#further = further
  }

  /** Waits until a body of so many bytes may come; never rejects. */
  async enter(bytes: number): Promise<void> {
    const since = performance.now()
    await new Promise<void>((resolve) => (this.#leave = this.#room.take(bytes, resolve)))
    await this.#further()?.catch(() => {})
    this.heldUpMs = performance.now() - since
  }

  /** The body was read, or is not coming any more. */
  leave(): void {
    this.#leave()
  }
}

/** Answers are read in the order in which they came, so many bytes in one turn of the event loop: under a millisecond of work. */
const BYTES_A_TURN = 32_000
/** Unread answers without a permit hold no more than this; with the next one, its call keeps its permit until it is read. */
const UNREAD_BYTES_MAX = 8_000_000

/**
 * Where answers wait to be read. Reading one, and all that follows from it, is the work of this process; were it done as soon
 * as the answer is there, the answers of all other calls would wait behind it, unheard, and with them the calls that could
 * take their place. A few at a time, the sockets are looked after in between and the line of calls never runs dry.
 */
export class ReadingLine {
  readonly #waiting: { bytes: number; goOn: () => void }[] = []
  #bytes = 0

  /** Whether one more answer may wait while another call is made in its call's place. */
  hasRoom(bytes: number, answersMax: number): boolean {
    return this.#waiting.length < answersMax && this.#bytes + bytes <= UNREAD_BYTES_MAX
  }

  /** Waits for its turn. */
  join(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ bytes, goOn: resolve })
      this.#bytes += bytes
      if (this.#waiting.length === 1) setImmediate(() => this.#letSomeGo())
    })
  }

  #letSomeGo(): void {
    for (let bytes = 0; bytes < BYTES_A_TURN;) {
      const first = this.#waiting.shift()
      if (first === undefined) return
      bytes += first.bytes
      this.#bytes -= first.bytes
      first.goOn()
    }
    if (this.#waiting.length > 0) setImmediate(() => this.#letSomeGo())
  }
}
