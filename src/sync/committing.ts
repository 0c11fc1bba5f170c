import type { Claim, Counts } from '../database/claims.ts'
import type { Operation } from '../errors.ts'
import type { WaitingThreads } from './new-threads.ts'

/** What the writers need to know of a claim. */
export type WritersClaim = Pick<
  Claim,
  'runId' | 'claimNo' | 'batchVersion' | 'claimedAt' | 'at' | 'trigger' | 'onlyScopes'
>

/** What the writers of one commit share. */
export interface Committing {
  readonly claim: WritersClaim
  readonly batchKey: number
  readonly operation: Operation
  /** Fraction of a listing whose loss is suspicious, `SYNC_SHRINK_LIMIT`. */
  readonly shrinkLimit: number
  /** True where the commit is tried again when another one is writing users of its organization. */
  readonly yields?: boolean
  /** The comments of the new threads among the results; left out where there are none. */
  readonly newThreads?: WaitingThreads
  /** Counts of this commit; the writers add to them. */
  readonly counts: Counts
}
