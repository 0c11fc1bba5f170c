import type { Operation } from '../errors.ts'
import type { Scope } from '../scope.ts'
import type { ItemKind } from './items.ts'
import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'

/** What runs are counted by: columns of `sync.run_items` and `sync.runs`, in the order of items/commit.sql. */
export const COUNTS = [
  'calls',
  'retries',
  'scopes_succeeded',
  'scopes_failed',
  'scopes_held',
  'records_received',
  'records_inserted',
  'records_updated',
  'records_unchanged',
  'records_rejected',
  'records_null',
  'organizations_done',
  'documents_done',
  'groups_done',
  'annotations_done',
  'users_written',
  'comments_written',
  'comments_deleted',
  'rejected',
  'service_ms',
  'waited_ms',
  'database_ms',
  'cpu_ms',
] as const

export type Counts = Record<(typeof COUNTS)[number], number>

/** An item that this worker has taken up. */
export interface Claim {
  readonly runId: string
  readonly itemId: number
  readonly kind: ItemKind
  /** The batch to sync and its operation; null for items that page. */
  readonly batchKey: number | null
  readonly operation: Operation | null
  readonly round: number
  readonly attempts: number
  /** Bit n is '1' where scope n is wanted; null means all. */
  readonly onlyScopes: string | null
  /** Bit n is '1' where scope n is committed already; null means none. */
  readonly doneScopes: string | null
  readonly runStatus: string
  readonly scope: Scope
  readonly trigger: string
  readonly stopping: 'failed' | 'cancelled' | null
  /** Becomes the version of the batch with the first commit under this claim. */
  readonly claimNo: number
  /**
   * The batch's version when it was taken up; 0 for items that page. Where it is another at a commit, somebody else has
   * written meanwhile, and nobody knows whose answers are older.
   */
  readonly batchVersion: number
  /** The newest erasure that the claim saw; 0 where there is none. A later one changes the batch's version. */
  readonly lastErasure: number
  /** When the item was first taken up: none of its answers is older. PostgreSQL's clock. */
  readonly claimedAt: Date
  /** When it was taken up this time: what is written now is dated so. */
  readonly at: Date
}

export function noCounts(): Counts {
  return Object.fromEntries(COUNTS.map((name) => [name, 0])) as Counts
}

/**
 * Takes up an item; null where it is done already, so that a job delivered twice works once.
 * @param options.isAgain the worker that has it in hand takes it up anew: no further attempt
 */
export async function claimItem(
  database: Database,
  ids: { runId: string; itemId: number },
  workerId: string,
  options: { isAgain: boolean } = { isAgain: false },
): Promise<Claim | null> {
  const values = [ids.runId, ids.itemId, workerId, options.isAgain]
  const { rows } = await database.query(sql('items/claim'), values)
  const row = rows[0]
  if (row === undefined) return null
  return {
    ...ids,
    kind: row.kind,
    batchKey: row.batch_key,
    operation: row.operation,
    round: row.round,
    attempts: row.attempts,
    onlyScopes: row.only_scopes,
    doneScopes: row.done_scopes,
    runStatus: row.run_status,
    scope: row.scope,
    trigger: row.trigger,
    stopping: row.stopping,
    claimNo: row.claim_no,
    batchVersion: row.batch_version ?? 0,
    lastErasure: row.last_erasure ?? 0,
    claimedAt: row.claimed_at,
    at: row.at,
  }
}

export interface ItemCommit {
  readonly claim: Claim
  /** Bits of all scopes committed so far, these included. */
  readonly doneScopes: string
  readonly isEnd: boolean
  readonly counts: Counts
}

/**
 * Records what is committed of a sync item: done scopes, counts, and its batch's checkpoint. Where the answers
 * changed nothing this one statement is the whole transaction.
 * @returns false where another claim has written to the batch, or the item is done already: nothing was recorded
 */
export async function commitItem(on: Database | Client, commit: ItemCommit): Promise<boolean> {
  const { claim, counts } = commit
  const { rowCount } = await on.query({
    name: 'items/commit',
    text: sql('items/commit'),
    values: [
      claim.runId,
      claim.itemId,
      claim.batchKey,
      claim.claimNo,
      claim.claimedAt,
      commit.doneScopes,
      commit.isEnd,
      claim.onlyScopes === null,
      ...COUNTS.map((name) => counts[name]),
      claim.batchVersion,
    ],
  })
  return rowCount === 1
}
