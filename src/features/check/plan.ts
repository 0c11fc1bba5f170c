import { DELETED_COUNTS, noCounts, REMOVED_COUNTS, sumOf } from '../../schemas/counts.ts'
import { rolledBack } from '../../core/database/pool.ts'
import { insertRun } from '../../core/database/runs.ts'
import { idsOf } from '../../core/database/scopes.ts'
import type { ScopeIds } from '../../core/database/scopes.ts'
import * as scopes from '../../core/database/statements/scopes.ts'
import type { Operation, ScopeKind } from '../../base/operations.ts'
import { writeResults } from '../../core/sync/commit/commit.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import type { FetchedResult } from '../../core/sync/fetch/result.ts'
import type { Rules } from '../../core/sync/rules.ts'
import { AS_RUN, scopesOfRun } from '../../core/run/start.ts'
import type { ScopeInBatch, ScopesRequest } from '../../core/run/start.ts'
import { fetchEach } from './fetch-each.ts'

/** Numbers of records. */
const NO_CHANGES = {
  received: 0,
  added: 0,
  changed: 0,
  unchanged: 0,
  /** Comments that would be marked deleted, and users or members who would be removed. */
  removed: 0,
  /** Users whose removal would be held. */
  held: 0,
  /** Records, or fields of records, that could not be stored. */
  rejected: 0,
  /** Of the rejected, fields of stored records. */
  fieldsRejected: 0,
  /** Of the rejected, records that were not set aside. */
  lost: 0,
}
const CHANGES = Object.keys(NO_CHANGES) as (keyof typeof NO_CHANGES)[]
type PlannedChanges = Readonly<typeof NO_CHANGES>

export interface PlannedScope extends PlannedChanges, ScopeIds {
  readonly operation: Operation
  readonly kind: ScopeKind
  /** Why the scope would fail; null if it would not. */
  readonly failure: string | null
}

export interface PlannedRun extends PlannedChanges {
  readonly scopes: number
  /** Scopes that would fail. */
  readonly failed: number
  /** Scopes with a removal that would be held. */
  readonly heldScopes: number
  readonly calls: number
  readonly retries: number
}

/**
 * Fetches the scopes of a run, writes each response in a transaction that is rolled back, and reports the changes. No row is
 * left; only sequences advance. Each scope has its own transaction, so it does not see what others would write.
 * @param onScope called with each scope, in the order of the responses
 * @throws UsageError as startRun does; CallError if the service refuses the credentials; DrainingError when the process stops
 */
export async function planRun(
  context: SyncContext,
  request: ScopesRequest,
  onScope: (scope: PlannedScope) => void,
): Promise<PlannedRun> {
  const { database } = context
  const { scope } = request
  const total = { ...NO_CHANGES, scopes: 0, failed: 0, heldScopes: 0 }
  const of = { database, scopes: scopesOfRun(context, request), scope }
  const { calls, retries } = await fetchEach(context, of, async (place, result, rules) => {
    const { operation, scope: each } = place
    const changes = await planScope({ ...context, rules }, request, place, result)
    const planned = { operation, kind: each.kind, ...idsOf(each), ...changes }
    total.scopes += 1
    if (planned.failure !== null) total.failed += 1
    if (planned.held > 0) total.heldScopes += 1
    for (const name of CHANGES) total[name] += planned[name]
    onScope(planned)
  })
  return { ...total, calls, retries }
}

async function planScope(
  context: Pick<SyncContext, 'database' | 'shrinkLimit' | 'heldAcceptAfter'> & { rules: Rules },
  { scope }: ScopesRequest,
  { batchKey, operation }: ScopeInBatch,
  result: FetchedResult,
): Promise<PlannedChanges & Pick<PlannedScope, 'failure'>> {
  if (result.outcome === 'unchanged') {
    const { records } = result
    return { ...NO_CHANGES, received: records, unchanged: records, failure: null }
  }
  if (result.outcome === 'failed') return { ...NO_CHANGES, failure: result.error.message }
  const { database, heldAcceptAfter, rules, shrinkLimit } = context
  const counts = noCounts()
  const removals = await rolledBack(database, async (client) => {
    Object.assign(counts, noCounts())
    const runId = (await insertRun(client, { ...AS_RUN, scope })) as string
    const { batchXmin } = await scopes.lockBatch.one(client, { batchKey, runId })
    const now = new Date()
    const claim = {
      runId,
      // Newer than any other claim, so that none supersedes it before the rollback.
      claimNo: Number.MAX_SAFE_INTEGER,
      batchXmin,
      claimedAt: now,
      at: now,
      rules,
      trigger: AS_RUN.trigger,
      onlyScopes: null,
    }
    const committing = { claim, batchKey, operation, shrinkLimit, heldAcceptAfter, counts }
    return writeResults(client, committing, [result])
  })
  return {
    received: counts.recordsReceived,
    added: counts.recordsInserted,
    changed: counts.recordsUpdated,
    unchanged: counts.recordsUnchanged,
    removed: sumOf(counts, DELETED_COUNTS) + sumOf(counts, REMOVED_COUNTS),
    held: removals.reduce((sum, { missing }) => sum + missing, 0),
    rejected: counts.rejected,
    fieldsRejected: counts.rejected - counts.recordsRejected,
    lost: counts.recordsLost,
    failure: result.incomplete?.message ?? null,
  }
}
