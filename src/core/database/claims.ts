import type { Counts } from '../../schemas/counts.ts'
import { isEverything, parseScope } from '../../schemas/scope.ts'
import type { Scope } from '../../schemas/scope.ts'
import type { Database } from './pool.ts'
import type { On, RowOf } from './statement.ts'
import * as items from './statements/items.ts'
import type { planPages } from './statements/items.ts'

/** An item that this worker has claimed; items/claim.sql describes its members. */
export interface Claim extends RowOf<typeof items.claim> {
  readonly runId: string
  readonly itemId: number
  readonly scope: Scope
}

/**
 * Claims an item; null where it is done already.
 * @throws UsageError where this version does not know the scope of the run
 * @param isAgain the worker that works on the item claims it again, which is no further attempt
 */
export async function claimItem(
  database: Database,
  { runId, itemId }: { runId: string; itemId: number },
  workerId: string,
  isAgain = false,
): Promise<Claim | null> {
  const row = await items.claim.first(database, { runId, itemId, workerId, isAgain })
  if (row === undefined) return null
  return { ...row, runId, itemId, scope: parseScope(row.scope) }
}

export interface ItemCommit {
  readonly claim: Claim
  /** Bits of all scopes committed so far, these included. */
  readonly doneScopes: string
  readonly isEnd: boolean
  readonly counts: Counts
}

/**
 * Records what is committed of a sync item: done scopes, counts, and the checkpoint of its batch. Where the responses
 * changed nothing, this one statement is the whole transaction.
 * @returns false where another claim has written to the batch, or the item is done already: nothing was recorded
 */
export async function commitItem(on: On, commit: ItemCommit): Promise<boolean> {
  const { claim, counts, doneScopes, isEnd } = commit
  // The check of another run keeps its time.
  const isWhole = claim.onlyScopes === null && !claim.isChecked
  const committed = await items.commit.run(on, { ...claim, ...counts, doneScopes, isEnd, isWhole })
  return committed === 1
}

/** A new item, as the statements that plan return it. */
export type PlannedItem = RowOf<typeof planPages>

/** An item of a run, as the queue delivers it. Low rounds are delivered first. */
export interface Item extends PlannedItem {
  readonly runId: string
  /** Whether its run is limited to some scopes, because then a person waits for it. */
  readonly isScoped: boolean
}

/** Planned items, to hand to the queue. */
export function toItems(
  run: { runId: string; isScoped: boolean },
  planned: readonly PlannedItem[],
): Item[] {
  return planned.map((item) => ({ ...run, ...item }))
}

/** Whether a claimed item belongs to a run that is limited to some scopes, or that retries failed ones. */
export function isScopedClaim({ scope, onlyScopes }: Pick<Claim, 'scope' | 'onlyScopes'>): boolean {
  return onlyScopes !== null || !isEverything(scope)
}

/** A worker that wrote no heartbeat for this time counts as dead; six heartbeats. */
export const DEAD_AFTER_S = 30
