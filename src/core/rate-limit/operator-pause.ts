import type { OperatorPause } from '../service/shared-rate-limit.ts'
import { waitAmong } from '../service/wait-line.ts'
import type { Waiting } from '../service/wait-line.ts'

/** The pause of all calls that an operator ordered, as far as this process knows: callers wait for its end, and a clock stops. */
export class OperatorPauseState {
  readonly #waiting: Waiting = new Map()
  #pause: OperatorPause | null = null
  #sinceMs = 0
  /** How long the pauses before this one lasted in this process. */
  #endedMs = 0
  #ending: NodeJS.Timeout | undefined

  /** The pause that lasts; null without one. */
  get pause(): OperatorPause | null {
    return this.#pause
  }

  /** `performance.now` less the time for which this process was paused. */
  now(): number {
    const nowMs = performance.now()
    return nowMs - this.#endedMs - (this.#pause === null ? 0 : nowMs - this.#sinceMs)
  }

  /** Waits for the end of the pause; null without one. @throws the signal's reason when it aborts first */
  untilOver(signal?: AbortSignal): Promise<void> | null {
    return this.#pause === null ? null : waitAmong(this.#waiting, 1, signal)
  }

  /** Takes what PostgreSQL says of the pause. @param pause.ms how long it still lasts, since the clocks of machines differ */
  apply(pause: (OperatorPause & { readonly ms: number }) | null): void {
    clearTimeout(this.#ending)
    if (pause === null) return this.#end()
    if (this.#pause === null) this.#sinceMs = performance.now()
    const { ms, ...facts } = pause
    this.#pause = facts
    // PostgreSQL may be unreachable when it ends.
    this.#ending = setTimeout(() => this.#end(), ms)
  }

  /** Rejects all that wait with `reason`. */
  close(reason: Error): void {
    clearTimeout(this.#ending)
    for (const end of this.#waiting.keys()) end(reason)
  }

  #end(): void {
    if (this.#pause === null) return
    this.#endedMs += performance.now() - this.#sinceMs
    this.#pause = null
    for (const end of this.#waiting.keys()) end()
  }
}
