import type { Counts } from '../../schemas/counts.ts'
import type { Database } from '../database/pool.ts'
import type { FinishedRun } from '../database/runs.ts'
import type { Operation } from '../../base/operations.ts'
import type { Log } from '../../base/log.ts'
import type { CollabApi } from '../service/client.ts'
import type { RunSignals } from './run-signals.ts'

/** What starting, planning, stopping and finishing a run needs. */
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
   * The items whose batches this process works on, each with the controller that ends its batch; null while the batch waits
   * for a run that superseded it. Any other item that this worker claimed is lost.
   */
  readonly itemsInProgress: Map<number, AbortController | null>
  /** The operations of a run that names none. */
  readonly operations: readonly Operation[]
  readonly watch?: SyncWatch
}

/** Callbacks for metrics. They must neither throw nor wait. */
export interface SyncWatch {
  /** Responses of one operation were committed; the counts are those of this commit. */
  committed(operation: Operation, counts: Readonly<Counts>): void
  /** This process finished a run. */
  finished(run: FinishedRun): void
}
