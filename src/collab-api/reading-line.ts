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
