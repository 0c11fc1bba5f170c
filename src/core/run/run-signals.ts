import { RunStoppedError } from '../../base/errors.ts'

/** Forbidden calls of a run, before any that succeeds, after which key and token are checked. */
export const SUSPICIOUS_REFUSALS = 5

/** The forbidden calls of a run in this process. */
export interface RunRefusals {
  /** True once the service returned a valid response for a scope of the run. */
  areCredentialsGood: boolean
  /** Scopes that were forbidden since key and token were last checked. */
  count: number
  readonly organizations: Set<number>
}

/** Signals and refusals of the runs that this process works on. A signal aborts calls in flight and waiting calls when its run stops. */
export class RunSignals {
  readonly #runs = new Map<string, { controller: AbortController; refusals: RunRefusals }>()

  signalOf(runId: string): AbortSignal {
    return this.#of(runId).controller.signal
  }

  refusalsOf(runId: string): RunRefusals {
    return this.#of(runId).refusals
  }

  /** Whether this process works on the run, as far as it knows. */
  knows(runId: string): boolean {
    return this.#runs.has(runId)
  }

  /** Gives up the work in progress for a run. */
  abort(runId: string): void {
    this.#runs.get(runId)?.controller.abort(new RunStoppedError(`Run ${runId} was stopped.`))
  }

  /** Gives up the work in progress for every run. */
  abortAll(reason: Error): void {
    for (const { controller } of this.#runs.values()) controller.abort(reason)
  }

  /** Drops what is known of a run that is over. */
  forget(runId: string): void {
    this.#runs.delete(runId)
  }

  #of(runId: string) {
    let run = this.#runs.get(runId)
    if (run === undefined) {
      const refusals = { areCredentialsGood: false, count: 0, organizations: new Set<number>() }
      run = { controller: new AbortController(), refusals }
      this.#runs.set(runId, run)
    }
    return run
  }
}
