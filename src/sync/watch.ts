import type { Counts } from '../database/claims.ts'
import type { SettledRun } from '../database/runs.ts'
import type { Operation } from '../errors.ts'

/** Hears what syncing does, as it does it: for metrics. It must neither throw nor wait. */
export interface SyncWatch {
  /** Answers of one operation were committed; the counts are those of this commit alone. */
  committed(operation: Operation, counts: Readonly<Counts>): void
  /** This process settled a run. */
  settled(run: SettledRun): void
}
