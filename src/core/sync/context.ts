import type { Counts } from '../../schemas/counts.ts'
import type { Claim } from '../database/claims.ts'
import type { BatchScope } from '../database/scopes.ts'
import type { Operation } from '../../base/operations.ts'
import type { RunContext } from '../run/context.ts'
import type { SentCalls } from './counts.ts'
import type { ScopeSlots } from './fetch/slots.ts'
import type { RecordObserver } from './record/records.ts'
import type { Rules, RulesSource } from './rules.ts'

/** What syncing needs; opened by `src/worker/app.ts`. */
export interface SyncContext extends RunContext {
  readonly problems: WorkerProblems
  readonly scopeSlots: ScopeSlots
  readonly sentCalls: SentCalls
  /** The members of the records that this process has read. */
  readonly observed: RecordObserver
  /** Aborts when this process stops: calls that wait are given up, responses are committed. */
  readonly drained: AbortSignal
  readonly rules: RulesSource
  /** Most ids in one filter of a call. */
  readonly maxIds: number
  /** Fraction of a listing whose loss is suspicious, `SYNC_SHRINK_LIMIT`. */
  readonly shrinkLimit: number
  /** Equal responses of nightly runs after which a held removal is applied, `HELD_ACCEPT_AFTER`; null for never. */
  readonly heldAcceptAfter: number | null
}

/**
 * Why this process cannot take jobs or call the service at the moment: sentences for an operator, complete and without secrets,
 * null when there is no problem. The parts of the process that notice it write here, and each heartbeat writes it to sync.workers.
 */
export interface WorkerProblems {
  queue: string | null
  service: string | null
}

/** A claim with the rules that it saw. */
export interface RuledClaim extends Claim {
  readonly rules: Rules
}

/** A scope whose removals wait for approval. */
export interface HeldScope {
  readonly scope: BatchScope
  /** Records that its response lacks. */
  readonly missing: number
}

/** What the writers of one commit share. */
export interface Committing extends Pick<SyncContext, 'shrinkLimit' | 'heldAcceptAfter'> {
  readonly claim: Pick<
    RuledClaim,
    'runId' | 'claimNo' | 'batchXmin' | 'claimedAt' | 'at' | 'trigger' | 'onlyScopes' | 'rules'
  >
  readonly batchKey: number
  readonly operation: Operation
  /** Counts of this commit; the writers add to them. */
  readonly counts: Counts
}
