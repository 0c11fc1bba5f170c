import { rolledBack } from '../database/pool.ts'
import { readScopes } from '../database/scopes.ts'
import type { BatchScope } from '../database/scopes.ts'
import type { RowOf } from '../database/statement.ts'
import * as batches from '../database/statements/batches.ts'
import * as items from '../database/statements/items.ts'
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
): AsyncGenerator<RowOf<typeof items.ofRun>> {
  const planned = await rolledBack(database, async (client) => {
    const run = await makeRun(client, { ...AS_RUN, ...request }, defaults)
    const isPlannedAtOnce = run.items.every(({ kind }) => kind === 'sync-batch')
    return isPlannedAtOnce ? items.ofRun.all(client, { runId: run.runId }) : null
  })
  if (planned !== null) return yield* planned
  const operations = operationsOf(request.scope, defaults)
  const organizationIds = request.scope.organizationIds ?? null
  let after = 0
  for (;;) {
    const narrowed = { operations, organizationIds }
    const page = await batches.page.all(database, { after, ...narrowed, limit: BATCHES_A_PAGE })
    for (const batch of page) yield { ...batch, onlyScopes: null }
    const last = page.at(-1)
    if (last === undefined) return
    after = last.batchKey
  }
}
