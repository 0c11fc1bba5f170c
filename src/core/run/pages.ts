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

/**
 * Plans one page of a run: of its organizations, with the first batches of each, or the next batches of one large organization.
 * @returns the items that follow; none where it is planned already
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
  return toItems({ runId: ids.runId, isNarrow: isNarrowClaim(claim) }, planned)
}
