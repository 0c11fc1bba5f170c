import { noteAction } from '../database/actions.ts'
import { isScopedClaim, toItems } from '../database/claims.ts'
import type { Item } from '../database/claims.ts'
import { rolledBack, transaction } from '../database/pool.ts'
import type { Client } from '../database/pool.ts'
import { insertRun } from '../database/runs.ts'
import type { NewRun } from '../database/runs.ts'
import { readScopes } from '../database/scopes.ts'
import type { BatchScope } from '../database/scopes.ts'
import type { On, RowOf } from '../database/statement.ts'
import * as batches from '../database/statements/batches.ts'
import * as catalog from '../database/statements/catalog.ts'
import * as failures from '../database/statements/failures.ts'
import * as items from '../database/statements/items.ts'
import * as runs from '../database/statements/runs.ts'
import { describeScope, operationsOf } from '../../schemas/scope.ts'
import type { Scope } from '../../schemas/scope.ts'
import { NothingFailsError, notInCatalog, UsageError } from '../../base/errors.ts'
import type { Operation } from '../../base/operations.ts'
import { nothingToRetry, shortId } from '../../schemas/format.ts'
import { describeSpan, withSpan } from '../../base/trace.ts'
import { startItem } from './claim.ts'
import type { RunContext } from './context.ts'

/** A run and the items to enqueue. */
export interface StartedRun {
  readonly runId: string
  readonly items: readonly Item[]
}

/**
 * Creates a run with its first items, in one transaction. Requests with the same key create one run.
 * @throws UsageError naming what the catalog lacks, or if there is nothing to do
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

/** Creates a run in the caller's transaction; see {@link startRun}. */
export async function makeRun(
  client: Client,
  request: NewRun,
  defaults: readonly Operation[],
): Promise<StartedRun> {
  await checkInCatalog(client, request.scope)
  const runId = await insertRun(client, request)
  if (runId === null) return existing(client, request)
  const { isPaged, selection } = selectionOf(request, defaults)
  // The first page of a run that syncs whole organizations, or all batches of any other run.
  const plan = isPaged ? items.planPages : items.planScopes
  const planned = await plan.all(client, { runId, ...selection })
  if (planned.length === 0) throw await nothingIn(client, request)
  if (request.by !== undefined) await noteAction(client, request.by, 'run_requested', { runId })
  const isScoped = !isPaged || selection.organizationIds !== null
  return { runId, items: toItems({ runId, isScoped }, planned) }
}

/** The error if a run of these scopes would fetch nothing. */
async function nothingIn(on: On, request: ScopesRequest): Promise<UsageError> {
  const { failedOf: runId = null, failing, scope } = request
  if (!failing && runId === null) return nothingToDo(scope)
  const { organizationIds = null } = scope
  const stopped = await runs.stopped.first(on, { runId, organizationIds })
  if (stopped !== undefined)
    return new NothingFailsError(
      `Run ${stopped.runId} was stopped before it fetched all scopes, so that the scopes it left out are not recorded as failed. Find out why with: collab-sync status ${shortId(stopped.runId)}. Then sync them with: collab-sync run`,
      true,
    )
  if (runId === null)
    return new NothingFailsError(`Nothing fails in this scope: ${describeScope(scope)}.`, false)
  const failuresByState = await failures.states.one(on, { runId })
  return new NothingFailsError(nothingToRetry({ runId, failuresByState }), false)
}

async function existing(client: Client, { requestKey, trigger }: NewRun): Promise<StartedRun> {
  const made =
    requestKey === null ? undefined : await runs.findByRequest.first(client, { requestKey })
  if (made !== undefined) return { runId: made.runId, items: [] }
  throw new UsageError(`A run by ${trigger} is under way already.`)
}

/** What a run selects: whole organizations, which it pages through, or scopes. */
function selectionOf(request: ScopesRequest, defaults: readonly Operation[]) {
  const { failedOf = null, failing = false } = request
  const scope = failedOf === null ? request.scope : {}
  const { organizationIds = null, documentId = null, annotationId = null, userIds } = scope
  const { organizationUserGroupIds: userGroupIds = null } = scope
  const isListed = documentId !== null || userGroupIds !== null
  const areUsersNamed = !isListed && userIds !== undefined
  const areWhole = !isListed && !areUsersNamed && failedOf === null
  const selection = {
    operations: operationsOf(scope, defaults),
    organizationIds,
    documentId,
    annotationId,
    userGroupIds,
    areUsersNamed,
    failedOf,
    isFailing: failing,
    areWhole,
  }
  return { isPaged: areWhole && !failing, selection }
}

/** Organizations of a page: few, so that the first call is made at once. */
const ORGANIZATIONS_A_PAGE = 200
/** Batches of each organization in its first page; doubled with every page, so that large ones end in few pages. */
const BATCHES_OF_EACH = 8
const BATCHES_A_PAGE_MAX = 256

/**
 * Plans one page of a run: organizations with the first batches of each, or the next batches of one large organization.
 * @returns the items that follow; none if the page is planned already
 */
export async function planPage(
  context: RunContext,
  ids: { runId: string; itemId: number },
): Promise<Item[]> {
  const claim = await startItem(context, ids)
  if (claim === null) return []
  const { kind, round, scope } = claim
  const page = { ...ids, operations: operationsOf(scope, context.operations) }
  const planned = await (kind === 'page-organizations'
    ? items.pageOrganizations.all(context.database, {
        ...page,
        organizationIds: scope.organizationIds ?? null,
        limit: ORGANIZATIONS_A_PAGE,
        batchesOfEach: BATCHES_OF_EACH,
      })
    : items.pageDocuments.all(context.database, {
        ...page,
        limit: Math.min(BATCHES_OF_EACH * 2 ** round, BATCHES_A_PAGE_MAX),
      }))
  return toItems({ runId: ids.runId, isScoped: isScopedClaim(claim) }, planned)
}

/**
 * Checks that the catalog has what a scope names: a typing error must not look like an empty document.
 * @throws UsageError naming what it lacks
 */
export async function checkInCatalog(on: On, scope: Scope): Promise<void> {
  const missing = await catalog.missingFromScope.first(on, {
    organizationIds: scope.organizationIds ?? null,
    documentId: scope.documentId ?? null,
    annotationId: scope.annotationId ?? null,
    userGroupIds: scope.organizationUserGroupIds ?? null,
  })
  if (missing !== undefined) throw notInCatalog(missing.what, missing.id ?? '')
}

/** The error if the catalog has nothing of a scope. */
export function nothingToDo(scope: Scope): UsageError {
  return new UsageError(
    scope.documentId === undefined
      ? 'The catalog is empty; fill it with: collab-sync catalog import FILE.'
      : `Document ${JSON.stringify(scope.documentId)} has no annotation in the catalog; add some with: collab-sync catalog import FILE.`,
  )
}

/** A scope and its batch. */
export interface ScopeInBatch {
  readonly batchKey: number
  readonly operation: Operation
  readonly scope: BatchScope
}

/** Selects scopes. */
export type ScopesRequest = Pick<NewRun, 'scope' | 'failedOf' | 'failing'>

/** Of a run that is rolled back: it cannot conflict with another run. */
export const AS_RUN = { trigger: 'cli', requestKey: null } as const

const BATCHES_A_PAGE = 100

/**
 * The scopes that a run would fetch, batch by batch: the same statements plan it in a transaction that is rolled back.
 * @throws UsageError as startRun does
 */
export async function* scopesOfRun(
  context: Pick<RunContext, 'database' | 'operations'>,
  request: ScopesRequest,
): AsyncGenerator<ScopeInBatch> {
  for await (const batch of batchesOf(context, request)) {
    const { batchKey, operation, onlyScopes } = batch
    for (const scope of await readScopes(context.database, batchKey, operation, onlyScopes)) {
      yield { batchKey, operation, scope }
    }
  }
}

/** How many scopes a run would fetch. @throws UsageError as startRun does */
export async function countScopes(
  { database, operations }: Pick<RunContext, 'database' | 'operations'>,
  request: ScopesRequest,
): Promise<number> {
  await checkInCatalog(database, request.scope)
  const { isPaged, selection } = selectionOf(request, operations)
  const counted = isPaged ? batches.countScopes : items.countScopes
  const { scopes } = await counted.one(database, selection)
  if (scopes === 0) throw await nothingIn(database, request)
  return scopes
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
    const limits = { operations, organizationIds }
    const page = await batches.page.all(database, { after, ...limits, limit: BATCHES_A_PAGE })
    for (const batch of page) yield { ...batch, onlyScopes: null }
    const last = page.at(-1)
    if (last === undefined) return
    after = last.batchKey
  }
}
