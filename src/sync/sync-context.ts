import type { CollabApi } from '../collab-api/client.ts'
import type { Database } from '../database/pool.ts'
import type { Operation } from '../errors.ts'
import type { Log } from '../log.ts'
import type { PrivacyKeeper } from '../privacy/privacy.ts'
import type { RunSignals } from './run-signals.ts'
import type { ScopePlaces } from './scope-places.ts'
import type { SentCalls } from './sent-calls.ts'
import type { StoreSignal } from './store-signal.ts'
import type { SyncWatch } from './watch.ts'

/** What syncing needs; opened by `src/app.ts`. */
export interface SyncContext {
  readonly collabApi: CollabApi
  readonly database: Database
  readonly log: Log
  /** `host:pid:random`. */
  readonly workerId: string
  /** Seconds without a heartbeat after which a worker is taken for dead. */
  readonly deadAfterS: number
  readonly runSignals: RunSignals
  readonly storeSignal: StoreSignal
  readonly scopePlaces: ScopePlaces
  readonly sentCalls: SentCalls
  /** Batch items that this process works on right now; one that it took up and is not among them is lost. */
  readonly itemsInHand: Set<number>
  /** Aborts when this process stops: calls that wait are given up, what was answered is committed. */
  readonly drained: AbortSignal
  /** What may be stored of answers. */
  readonly privacy: PrivacyKeeper
  /** Most ids in one filter of a call. */
  readonly maxIds: number
  /** Fraction of a listing whose loss is suspicious. */
  readonly shrinkLimit: number
  /** What a run without operations of its own asks for. */
  readonly operations: readonly Operation[]
  /** Hears what is done; left out where nobody listens. */
  readonly watch?: SyncWatch
}
