import { RunStoppedError } from '../errors.ts'

/**
 * The signals of the runs that this process works on: one aborts when its run is to end early, so that calls in flight
 * and calls that wait are given up at once.
 */
export class RunSignals {
  readonly #controllers = new Map<string, AbortController>()

  /** The run's signal; made when it is first asked for. */
  signalOf(runId: string): AbortSignal {
    let controller = this.#controllers.get(runId)
    if (controller === undefined) this.#controllers.set(runId, (controller = new AbortController()))
    return controller.signal
  }

  /** Whether this process works on the run, or did and has not heard of its end yet. */
  knows(runId: string): boolean {
    return this.#controllers.has(runId)
  }

  /** Gives up the work in hand for a run. */
  abort(runId: string): void {
    this.#controllers.get(runId)?.abort(new RunStoppedError(`Run ${runId} was stopped.`))
  }

  /** Gives up the work in hand for every run, for another reason than their end. */
  abortAll(reason: Error): void {
    for (const controller of this.#controllers.values()) controller.abort(reason)
  }

  /** Drops the signal of a run that is over. */
  forget(runId: string): void {
    this.#controllers.delete(runId)
  }
}
