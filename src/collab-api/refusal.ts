import type { CallError } from '../errors.ts'

/** After a token was refused, no call is made with it for so long: by then its run was told to stop. */
const HOLD_MS = 2000

/**
 * The last token that the service refused. Calls that wait in line would be refused as well, hundreds of them, before
 * anybody could tell them to stop.
 */
export class Refusal {
  #last: { token: string; error: CallError; untilMs: number } | null = null

  /** A call with the token was refused; the error of a call that was not made for it changes nothing. */
  note(token: string, error: CallError): void {
    if (error === this.#last?.error) return
    this.#last = { token, error, untilMs: performance.now() + HOLD_MS }
  }

  /** @throws the refusal where the token was refused a moment ago */
  check(token: string): void {
    if (this.#last?.token === token && performance.now() < this.#last.untilMs)
      throw this.#last.error
  }

  /** For the start of a run, which tries afresh. */
  forget(): void {
    this.#last = null
  }
}
