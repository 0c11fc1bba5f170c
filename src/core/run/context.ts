import type { Counts } from '../../documents/counts.ts'
import type { Database } from '../database/pool.ts'
import type { FinishedRun } from '../database/runs.ts'
import { RunStoppedError } from '../../base/errors.ts'
import type { Operation } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { CollabApi } from '../service/client.ts'

/** What the life of a run needs: it is started, planned page by page, stopped or finished. */
export interface RunContext {
  readonly collabApi: CollabApi
  readonly database: Database
  readonly log: Log
  /** `host:pid:random`. */
  readonly workerId: string
  /** Seconds without a heartbeat after which a worker is taken for dead. */
  readonly deadAfterS: number
  readonly runSignals: RunSignals
  /**
   * The items whose batches this process works on, each with what ends its batch; null while the batch waits for another run
   * that superseded it. An item that this worker claimed and that is not among them is lost.
   */
  readonly itemsInProgress: Map<number, AbortController | null>
  /** The operations of a run that names none. */
  readonly operations: readonly Operation[]
  /** Called with what is done; left out without metrics. */
  readonly watch?: SyncWatch
}

/** Is called with what syncing does: for metrics. It must neither throw nor wait. */
export interface SyncWatch {
  /** Answers of one operation were committed; the counts are those of this commit alone. */
  committed(operation: Operation, counts: Readonly<Counts>): void
  /** This process finished a run. */
  finished(run: FinishedRun): void
}

/** Forbidden calls of a run, without one that succeeded, after which key and token are checked. */
export const SUSPICIOUS_REFUSALS = 5

/** What this process knows of the forbidden calls of a run. */
export interface RunRefusals {
  /** Whether the service returned a valid response for a scope of the run: key and token are accepted, even if other scopes are forbidden. */
  areCredentialsGood: boolean
  /** Scopes that were forbidden since key and token were last checked. */
  count: number
  readonly organizations: Set<number>
}

/**
 * The signals of the runs that this process works on, and what was refused to each: a signal aborts when its run is to end
 * early, so that calls in flight and calls that wait are given up at once.
 */
export class RunSignals {
  readonly #runs = new Map<string, { controller: AbortController; refusals: RunRefusals }>()

  /** The run's signal; made when it is first needed. */
  signalOf(runId: string): AbortSignal {
    return this.#of(runId).controller.signal
  }

  refusalsOf(runId: string): RunRefusals {
    return this.#of(runId).refusals
  }

  /** Whether this process works on the run, or did and does not know of its end yet. */
  knows(runId: string): boolean {
    return this.#runs.has(runId)
  }

  /** Gives up the work in progress for a run. */
  abort(runId: string): void {
    this.#runs.get(runId)?.controller.abort(new RunStoppedError(`Run ${runId} was stopped.`))
  }

  /** Gives up the work in progress for every run, for another reason than their end. */
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
