import { noteAction } from '../database/actions.ts'
import type { Item } from '../database/claims.ts'
import { rolledBack, transaction } from '../database/pool.ts'
import type { Client } from '../database/pool.ts'
import { insertRun, planAtOnce, planPaging } from '../database/runs.ts'
import type { NewRun } from '../database/runs.ts'
import { readScopes } from '../database/scopes.ts'
import type { BatchScope } from '../database/scopes.ts'
import type { RowOf } from '../database/statement.ts'
import * as batches from '../database/statements/batches.ts'
import * as catalog from '../database/statements/catalog.ts'
import * as failures from '../database/statements/failures.ts'
import * as items from '../database/statements/items.ts'
import * as runs from '../database/statements/runs.ts'
import { operationsOf } from '../../documents/scope.ts'
import type { Scope } from '../../documents/scope.ts'
import { notInCatalog, UsageError } from '../../base/errors.ts'
import type { Operation } from '../../base/errors.ts'
import { nothingToRetry } from '../../documents/format.ts'
import { describeSpan, withSpan } from '../../base/trace.ts'
import { DoneScopes } from './claim.ts'
import type { RunContext } from './context.ts'

/** A run and the items to hand to the queue. */
export interface StartedRun {
  readonly runId: string
  readonly items: readonly Item[]
}

/**
 * Makes a run with its first items, in one transaction. The same request key makes one run, however often it comes.
 * @throws UsageError naming what the catalog lacks, or where there is nothing to do
 */
export async function startRun(
  context: Pick<RunContext, 'database' | 'operations'>,
  request: NewRun,
): Promise<StartedRun> {
  return withSpan('start run', { 'collab_sync.run.trigger': request.trigger }, async () => {
    const started = await transaction(context.database, (client) =>
      makeRun(client, request, context.operations),
    )
    describeSpan({ 'collab_sync.run.id': started.runId })
    return started
  })
}

/** Makes a run in the caller's transaction; see {@link startRun}. */
export async function makeRun(
  client: Client,
  request: NewRun,
  defaults: readonly Operation[],
): Promise<StartedRun> {
  await checkInCatalog(client, request.scope)
  const runId = await insertRun(client, request)
  if (runId === null) return existing(client, request)
  const planned = await plan(client, runId, request, defaults)
  if (planned.length === 0) {
    const { failedOf, scope } = request
    throw failedOf === undefined ? nothingToDo(scope) : await nothingFails(client, failedOf)
  }
  if (request.by !== undefined) await noteAction(client, request.by, 'run_requested', { runId })
  return { runId, items: planned }
}

async function existing(client: Client, { requestKey, trigger }: NewRun): Promise<StartedRun> {
  const made =
    requestKey === null ? undefined : await runs.findByRequest.first(client, { requestKey })
  if (made !== undefined) return { runId: made.runId, items: [] }
  throw new UsageError(`A run by ${trigger} is under way already.`)
}

async function plan(
  client: Client,
  runId: string,
  { scope, failedOf }: NewRun,
  defaults: readonly Operation[],
): Promise<Item[]> {
  if (failedOf !== undefined) {
    return planAtOnce(client, runId, [() => items.planFailed.all(client, { runId, failedOf })])
  }
  const operations = operationsOf(scope, defaults)
  const plans = narrowPlans(client, runId, scope, operations)
  if (plans !== null) return planAtOnce(client, runId, plans)
  return planPaging(client, runId, operations, scope.organizationIds ?? null)
}

/** The planning statements of a narrow scope; null where organizations are synced as a whole. */
function narrowPlans(
  client: Client,
  runId: string,
  scope: Scope,
  operations: readonly Operation[],
) {
  const { organizationIds = null, documentId, annotationId = null } = scope
  const { organizationUserGroupIds: userGroupIds, userIds } = scope
  const organizationId = organizationIds?.[0]
  if (documentId !== undefined) {
    if (organizationId === undefined) return []
    const ids = { runId, organizationId, documentId }
    return operations.map((operation) =>
      operation === 'users'
        ? () => items.planDocumentUsers.all(client, ids)
        : () => items.planDocumentComments.all(client, { ...ids, annotationId }),
    )
  }
  if (userGroupIds !== undefined) {
    return [() => items.planGroups.all(client, { runId, organizationIds, userGroupIds })]
  }
  if (userIds !== undefined) {
    return [() => items.planOrganizationUsers.all(client, { runId, organizationIds })]
  }
  return null
}

/**
 * What a scope names must be in the catalog: a slip of the pen must not look like an empty document.
 * @throws UsageError naming what it lacks
 */
export async function checkInCatalog(client: Client, scope: Scope): Promise<void> {
  const missing = await catalog.missingFromScope.first(client, {
    organizationIds: scope.organizationIds ?? null,
    documentId: scope.documentId ?? null,
    annotationId: scope.annotationId ?? null,
    userGroupIds: scope.organizationUserGroupIds ?? null,
  })
  if (missing !== undefined) throw notInCatalog(missing.what, missing.id ?? '')
}

async function nothingFails(client: Client, runId: string): Promise<UsageError> {
  const failuresByState = await failures.states.one(client, { runId })
  return new UsageError(nothingToRetry({ runId, failuresByState }))
}

/** The error where the catalog holds nothing of a scope. */
export function nothingToDo(scope: Scope): UsageError {
  return new UsageError(
    scope.documentId === undefined
      ? 'The catalog is empty; fill it with: collab-sync catalog import FILE.'
      : `Document ${JSON.stringify(scope.documentId)} has no annotation in the catalog; add some with: collab-sync catalog import FILE.`,
  )
}

/** A scope and the batch it lies in. */
export interface ScopeInBatch {
  readonly batchKey: number
  readonly operation: Operation
  readonly scope: BatchScope
}

/** What scopes are wanted. */
export type ScopesRequest = Pick<NewRun, 'scope' | 'failedOf'>

/** The rest of a run that is made and taken back; with these it never meets another one. */
export const AS_RUN = { trigger: 'cli', requestKey: null } as const

const BATCHES_A_PAGE = 100

/**
 * The scopes that a run would ask for, batch by batch, without making it: the run is planned by the same statements in a
 * transaction that is rolled back.
 * @throws UsageError as startRun does
 */
export async function* scopesOfRun(
  context: Pick<RunContext, 'database' | 'operations'>,
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
  { database, operations: defaults }: Pick<RunContext, 'database' | 'operations'>,
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
