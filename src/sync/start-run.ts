import { findRunByRequest, insertRun, planAtOnce, planPaging } from '../database/runs.ts'
import type { NewRun } from '../database/runs.ts'
import type { Item } from '../database/items.ts'
import { transaction } from '../database/pool.ts'
import type { Client } from '../database/pool.ts'
import * as catalog from '../database/statements/catalog.ts'
import { UsageError } from '../errors.ts'
import type { Operation } from '../errors.ts'
import { operationsOf } from '../scope.ts'
import type { Scope } from '../scope.ts'
import { currentTraceparent, describeSpan, withSpan } from '../trace.ts'
import type { SyncContext } from './sync-context.ts'

/** A run and the items to hand to the queue. */
export interface StartedRun {
  readonly runId: string
  readonly items: readonly Item[]
}

/** A request for a run: narrowed by a scope, or to what failed in an earlier run. */
export interface RunRequest extends NewRun {
  readonly failedOf?: string
}

/**
 * Makes a run with its first items, in one transaction. The same request key makes one run, however often it comes.
 * @throws UsageError naming what the catalog lacks, or where there is nothing to do
 */
export async function startRun(
  context: Pick<SyncContext, 'database' | 'operations'>,
  request: RunRequest,
): Promise<StartedRun> {
  return withSpan('start run', { 'collab_sync.run.trigger': request.trigger }, async () => {
    const traceparent = currentTraceparent()
    const { runId, items } = await transaction(context.database, (client) =>
      makeRun(client, { ...request, traceparent }, context.operations),
    )
    describeSpan({ 'collab_sync.run.id': runId })
    return { runId, items: items.map((item) => ({ ...item, traceparent })) }
  })
}

/** Makes a run in the caller's transaction; see {@link startRun}. */
export async function makeRun(
  client: Client,
  request: RunRequest,
  defaults: readonly Operation[],
): Promise<StartedRun> {
  await checkInCatalog(client, request.scope)
  const runId = await insertRun(client, request)
  if (runId === null) return existing(client, request)
  const items = await plan(client, runId, request, defaults)
  if (items.length === 0) throw nothingToDo(request)
  return { runId, items }
}

async function existing(client: Client, { requestKey, trigger }: RunRequest): Promise<StartedRun> {
  const runId = requestKey === null ? null : await findRunByRequest(client, requestKey)
  if (runId !== null) return { runId, items: [] }
  throw new UsageError(`A run by ${trigger} is under way already.`)
}

async function plan(
  client: Client,
  runId: string,
  { scope, failedOf }: RunRequest,
  defaults: readonly Operation[],
): Promise<Item[]> {
  if (failedOf !== undefined) {
    return planAtOnce(client, runId, [{ statement: 'items/plan-failed', parameters: [failedOf] }])
  }
  const operations = operationsOf(scope, defaults)
  const plans = narrowPlans(scope, operations)
  if (plans !== null) return planAtOnce(client, runId, plans)
  return planPaging(client, runId, operations, scope.organizationIds ?? null)
}

/** The planning statements of a narrow scope; null where organizations are synced as a whole. */
function narrowPlans(scope: Scope, operations: readonly Operation[]) {
  const {
    organizationIds = null,
    documentId,
    annotationId,
    organizationUserGroupIds,
    userIds,
  } = scope
  if (documentId !== undefined) {
    const ids = [organizationIds?.[0], documentId]
    return operations.map((operation) =>
      operation === 'users'
        ? { statement: 'items/plan-document-users', parameters: ids }
        : { statement: 'items/plan-document-comments', parameters: [...ids, annotationId ?? null] },
    )
  }
  if (organizationUserGroupIds !== undefined) {
    return [
      { statement: 'items/plan-groups', parameters: [organizationIds, organizationUserGroupIds] },
    ]
  }
  if (userIds !== undefined) {
    return [{ statement: 'items/plan-organization-users', parameters: [organizationIds] }]
  }
  return null
}

/** What a scope names must be in the catalog: a slip of the pen must not look like an empty document. */
async function checkInCatalog(client: Client, scope: Scope): Promise<void> {
  const missing = await catalog.missingFromScope.first(client, {
    organizationIds: scope.organizationIds ?? null,
    documentId: scope.documentId ?? null,
    annotationId: scope.annotationId ?? null,
    userGroupIds: scope.organizationUserGroupIds ?? null,
  })
  if (missing === undefined) return
  throw new UsageError(
    `${missing.what} ${JSON.stringify(missing.id)} is not in the catalog; add it with: collab-sync catalog import FILE.`,
  )
}

function nothingToDo({ failedOf, scope }: RunRequest): UsageError {
  if (failedOf !== undefined) return new UsageError(`Nothing failed in run ${failedOf}.`)
  return new UsageError(
    scope.documentId === undefined
      ? 'The catalog is empty; fill it with: collab-sync catalog import FILE.'
      : `Document ${JSON.stringify(scope.documentId)} has no annotation in the catalog; add some with: collab-sync catalog import FILE.`,
  )
}
