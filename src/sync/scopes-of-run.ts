import { pageBatches, readPlannedBatches } from '../database/batches.ts'
import type { PlannedBatch } from '../database/batches.ts'
import { rolledBack } from '../database/pool.ts'
import { readScopes } from '../database/scopes.ts'
import type { BatchScope } from '../database/scopes.ts'
import type { Operation } from '../errors.ts'
import { operationsOf } from '../scope.ts'
import { DoneScopes } from './done-scopes.ts'
import { makeRun } from './start-run.ts'
import type { RunRequest } from './start-run.ts'
import type { SyncContext } from './sync-context.ts'

/** A scope and the batch it lies in. */
export interface ScopeInBatch {
  readonly batchKey: number
  readonly operation: Operation
  readonly scope: BatchScope
}

/** What scopes are wanted. */
export type ScopesRequest = Pick<RunRequest, 'scope' | 'failedOf'>

/** The rest of a run that is made and taken back; with these it never meets another one. */
export const AS_RUN = { trigger: 'cli', requestKey: null } as const

const BATCHES_A_PAGE = 100

/**
 * The scopes that a run would ask for, batch by batch, without making it: the run is planned by the same statements in a
 * transaction that is rolled back.
 * @throws UsageError as startRun does
 */
export async function* scopesOfRun(
  context: Pick<SyncContext, 'database' | 'operations'>,
  request: ScopesRequest,
): AsyncGenerator<ScopeInBatch> {
  for await (const batch of batchesOf(context, request)) {
    const { batchKey, operation, onlyScopes } = batch
    const wanted = new DoneScopes({ onlyScopes, doneScopes: null })
    for (const scope of await readScopes(context.database, batchKey, operation)) {
      if (wanted.isWanted(scope.scopeNo)) yield { batchKey, operation, scope }
    }
  }
}

async function* batchesOf(
  { database, operations: defaults }: Pick<SyncContext, 'database' | 'operations'>,
  request: ScopesRequest,
): AsyncGenerator<PlannedBatch> {
  const planned = await rolledBack(database, async (client) => {
    const { runId, items } = await makeRun(client, { ...AS_RUN, ...request }, defaults)
    const isPlannedAtOnce = items.every(({ kind }) => kind === 'sync-batch')
    return isPlannedAtOnce ? readPlannedBatches(client, runId) : null
  })
  if (planned !== null) return yield* planned
  const operations = operationsOf(request.scope, defaults)
  const organizationIds = request.scope.organizationIds ?? null
  let afterKey = 0
  for (;;) {
    const page = { operations, organizationIds, batches: BATCHES_A_PAGE }
    const batches = await pageBatches(database, afterKey, page)
    for (const batch of batches) yield { ...batch, onlyScopes: null }
    const last = batches.at(-1)
    if (last === undefined) return
    afterKey = last.batchKey
  }
}
