import { noCounts } from '../../documents/counts.ts'
import { rolledBack } from '../../core/database/pool.ts'
import { insertRun } from '../../core/database/runs.ts'
import type { ScopeIds, ScopeKind } from '../../core/database/scopes.ts'
import * as scopes from '../../core/database/statements/scopes.ts'
import type { Scope } from '../../documents/scope.ts'
import { CallError } from '../../base/errors.ts'
import type { Operation } from '../../base/errors.ts'
import { writeResults } from '../../core/sync/commit/commit.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import { noCallStats } from '../../core/sync/counts.ts'
import type { Asking } from '../../core/sync/fetch/comments.ts'
import type { AskedResult } from '../../core/sync/fetch/result.ts'
import { askScope, inParallel } from '../../core/sync/fetch/schedule.ts'
import { AS_RUN, scopesOfRun } from '../../core/run/start.ts'
import type { ScopeInBatch, ScopesRequest } from '../../core/run/start.ts'

/** What a run would do to the tables, in records. */
export interface PlannedChanges {
  readonly received: number
  readonly added: number
  readonly changed: number
  readonly unchanged: number
  /** Comments that would be marked deleted, members who would leave. */
  readonly removed: number
  /** Members whose removal would wait for a person. */
  readonly held: number
  /** Records, or members of records, that could not be stored. */
  readonly rejected: number
  /** Of these, whole records that nobody has set aside. */
  readonly lost: number
}

/** What a run would do for one scope. */
export interface PlannedScope extends PlannedChanges, ScopeIds {
  readonly operation: Operation
  readonly kind: ScopeKind
  /** Why the scope would fail; null where it would not. */
  readonly failure: string | null
}

/** What a run would do in all. */
export interface PlannedRun extends PlannedChanges {
  readonly scopes: number
  /** Scopes that would fail. */
  readonly failed: number
  /** Scopes whose removals would be held. */
  readonly heldScopes: number
  readonly calls: number
  readonly retries: number
}

/**
 * Does the job of a run and takes it back: asks for each of its scopes, has the run's own writers write the answer in a
 * transaction that is rolled back, and tells what they did. Afterwards there is no row, checkpoint or digest that was not
 * there before; sequences may have moved. Each scope is planned by itself: what another one would write is not there yet.
 * A few answers are in memory at a time.
 * @param onScope hears of each scope, unchanged ones too, in the order of the answers
 * @throws UsageError as startRun does; CallError where the credentials are refused; DrainingError when the process stops
 */
export async function planRun(
  context: SyncContext,
  request: ScopesRequest,
  onScope: (scope: PlannedScope) => void,
): Promise<PlannedRun> {
  const stats = noCallStats()
  const rules = await context.rules.now()
  const asking: Asking = {
    collabApi: context.collabApi,
    database: context.database,
    maxIds: context.maxIds,
    rules,
    call: { stats, signal: context.drained },
  }
  const total = { ...noChanges(), scopes: 0, failed: 0, heldScopes: 0 }
  context.collabApi.startAfresh()
  await inParallel(
    scopesOfRun(context, request),
    // One answer is being written while the next is asked for.
    2 * context.collabApi.concurrency().limit,
    async (place) => {
      const result = await ask(asking, place, request)
      const planned = describe(
        place,
        await planScope(context, asking, request.scope, place, result),
      )
      total.scopes += 1
      if (planned.failure !== null) total.failed += 1
      if (planned.held > 0) total.heldScopes += 1
      for (const name of CHANGES) total[name] += planned[name]
      onScope(planned)
    },
  )
  return { ...total, calls: stats.calls, retries: stats.retries }
}

const CHANGES = [
  'received',
  'added',
  'changed',
  'unchanged',
  'removed',
  'held',
  'rejected',
  'lost',
] as const satisfies readonly (keyof PlannedChanges)[]

function noChanges(): Record<(typeof CHANGES)[number], number> {
  return Object.fromEntries(CHANGES.map((name) => [name, 0])) as Record<
    (typeof CHANGES)[number],
    number
  >
}

async function ask(
  asking: Asking,
  { operation, scope }: ScopeInBatch,
  request: ScopesRequest,
): Promise<AskedResult> {
  try {
    return await askScope(asking, operation, scope, request.scope)
  } catch (error) {
    if (!(error instanceof CallError) || error.concernsEveryCall) throw error
    return { outcome: 'failed', scope, error }
  }
}

type Planned = PlannedChanges & Pick<PlannedScope, 'failure'>

async function planScope(
  context: SyncContext,
  { rules }: Pick<Asking, 'rules'>,
  scope: Scope,
  place: ScopeInBatch,
  result: AskedResult,
): Promise<Planned> {
  if (result.outcome === 'unchanged') {
    const { records } = result
    return { ...noChanges(), received: records, unchanged: records, failure: null }
  }
  if (result.outcome === 'failed') return { ...noChanges(), failure: result.error.message }
  const counts = noCounts()
  const listings = await rolledBack(context.database, async (client) => {
    Object.assign(counts, noCounts())
    const runId = (await insertRun(client, { ...AS_RUN, scope })) as string
    const { batchKey, operation } = place
    const { batchXmin } = await scopes.lockBatch.one(client, { batchKey, runId })
    const now = new Date()
    const claim = {
      runId,
      // What is rolled back is newer than anything, and never in the way of it.
      claimNo: Number.MAX_SAFE_INTEGER,
      batchXmin,
      claimedAt: now,
      at: now,
      rules,
      trigger: AS_RUN.trigger,
      onlyScopes: null,
    }
    const { shrinkLimit, heldAcceptAfter } = context
    const committing = { claim, batchKey, operation, shrinkLimit, heldAcceptAfter, counts }
    return writeResults(client, committing, [result])
  })
  const held = listings.filter(({ isHeld }) => isHeld)
  return {
    received: counts.recordsReceived,
    added: counts.recordsInserted,
    changed: counts.recordsUpdated,
    unchanged: counts.recordsUnchanged,
    removed: counts.commentsDeleted + counts.usersRemoved + counts.membersRemoved,
    held: held.reduce((sum, { changes }) => sum + changes.missing.length, 0),
    rejected: counts.rejected,
    lost: counts.recordsLost,
    failure: result.incomplete?.message ?? null,
  }
}

function describe({ operation, scope }: ScopeInBatch, planned: Planned): PlannedScope {
  const { kind, organizationId, documentId, annotationId, organizationUserGroupId } = scope
  return {
    operation,
    kind,
    organizationId,
    documentId,
    annotationId,
    organizationUserGroupId,
    ...planned,
  }
}
