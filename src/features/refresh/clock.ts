import type { RowOf } from '../../core/database/statement.ts'
import type { begin } from '../../core/database/statements/refresh.ts'

/** A moment at which something is planned, and the definitions that hold at it. */
export type Moment = RowOf<typeof begin>

/** The time by which polls are dated: PostgreSQL's, or that of a world whose clock is made. */
export class Clock {
  readonly #ask: () => Promise<Moment>
  readonly #elapsedMs: () => number
  #last = { atMs: 0, elapsedMs: 0 }

  /** @param elapsedMs milliseconds of the same time, counted from anywhere */
  constructor(ask: () => Promise<Moment>, elapsedMs = () => performance.now()) {
    this.#ask = ask
    this.#elapsedMs = elapsedMs
  }

  /** Asks for the time, and for what is to be done at it. */
  async moment(): Promise<Moment> {
    const moment = await this.#ask()
    this.#last = { atMs: moment.at.getTime(), elapsedMs: this.#elapsedMs() }
    return moment
  }

  /** The time of the last moment, moved on by this process's clock. */
  now(): Date {
    const { atMs, elapsedMs } = this.#last
    return new Date(atMs + Math.max(0, this.#elapsedMs() - elapsedMs))
  }
}
