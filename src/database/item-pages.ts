import type { Claim } from './claims.ts'
import { toItems } from './items.ts'
import type { Item } from './items.ts'
import type { Database } from './pool.ts'
import { sql } from './sql.ts'

/**
 * Plans one page of organizations and marks the paging item done, in one statement.
 * @returns the items that follow; none where the page was planned already
 */
export async function pageOrganizations(
  database: Database,
  claim: Claim,
  page: { operations: readonly string[]; organizations: number; batchesOfEach: number },
): Promise<Item[]> {
  const { rows } = await database.query(sql('items/page-organizations'), [
    claim.runId,
    claim.itemId,
    page.operations,
    claim.scope.organizationIds ?? null,
    page.organizations,
    page.batchesOfEach,
  ])
  return toItems(claim.runId, rows)
}

/** Plans the next batches of one large organization and marks the paging item done, in one statement. */
export async function pageDocuments(
  database: Database,
  claim: Claim,
  page: { operations: readonly string[]; batches: number },
): Promise<Item[]> {
  const { rows } = await database.query(sql('items/page-documents'), [
    claim.runId,
    claim.itemId,
    page.operations,
    page.batches,
  ])
  return toItems(claim.runId, rows)
}
