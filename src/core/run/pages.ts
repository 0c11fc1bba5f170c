import { isNarrowClaim, toItems } from '../database/claims.ts'
import type { Item } from '../database/claims.ts'
import * as items from '../database/statements/items.ts'
import { operationsOf } from '../../documents/scope.ts'
import { startItem } from './claim.ts'
import type { RunContext } from './context.ts'

/** Organizations a page: small enough that the first call is made at once. */
const ORGANIZATIONS_A_PAGE = 200
/** Batches of each organization in its first page; doubled with every page, so that large ones end in few pages. */
const BATCHES_OF_EACH = 8
const BATCHES_A_PAGE_MAX = 256

/** Plans one page of a run's organizations. @returns the items that follow; none where it is planned already */
export async function planOrganizations(
  context: RunContext,
  ids: { runId: string; itemId: number },
): Promise<Item[]> {
  const claim = await startItem(context, ids)
  if (claim === null) return []
  const planned = await items.pageOrganizations.all(context.database, {
    ...ids,
    operations: operationsOf(claim.scope, context.operations),
    organizationIds: claim.scope.organizationIds ?? null,
    limit: ORGANIZATIONS_A_PAGE,
    batchesOfEach: BATCHES_OF_EACH,
  })
  return toItems({ runId: ids.runId, isNarrow: isNarrowClaim(claim) }, planned)
}

/** Plans the next batches of one large organization. @returns as planOrganizations */
export async function planDocuments(
  context: RunContext,
  ids: { runId: string; itemId: number },
): Promise<Item[]> {
  const claim = await startItem(context, ids)
  if (claim === null) return []
  const planned = await items.pageDocuments.all(context.database, {
    ...ids,
    operations: operationsOf(claim.scope, context.operations),
    limit: Math.min(BATCHES_OF_EACH * 2 ** claim.round, BATCHES_A_PAGE_MAX),
  })
  return toItems({ runId: ids.runId, isNarrow: isNarrowClaim(claim) }, planned)
}
