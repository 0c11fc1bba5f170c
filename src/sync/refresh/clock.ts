import type { Moment } from './pass.ts'

/** The time that looks are dated by: PostgreSQL's, or that of a world whose clock is made. */
export class Clock {
  readonly #ask: () => Promise<Moment>
  readonly #elapsedMs: () => number
  #last = { atMs: 0, elapsedMs: 0 }

  /** @param elapsedMs milliseconds of the same time, counted from anywhere */
  constructor(ask: () => Promise<Moment>, elapsedMs = () => performance.now()) {
    this.#ask = ask
    this.#elapsedMs = elapsedMs
  }

  /** The time, and what is to be done at it. */
  async moment(): Promise<Moment> {
    const moment = await this.#ask()
    this.#last = { atMs: moment.at.getTime(), elapsedMs: this.#elapsedMs() }
    return moment
  }

  async now(): Promise<Date> {
    return (await this.moment()).at
  }

  /** The time without asking for it, as far as this process's clock tells; never before the last moment. */
  about(): Date {
    const { atMs, elapsedMs } = this.#last
    return new Date(atMs + Math.max(0, this.#elapsedMs() - elapsedMs))
  }
}
