import type { Database } from './pool.ts'
import { inCamelCase } from './run-reports.ts'
import { sql } from './sql.ts'

/** How fresh one organization is. */
export interface OrganizationFreshness {
  readonly organizationId: string
  /** False where the catalog no longer lists it. */
  readonly active: boolean
  readonly scopes: number
  readonly annotations: number
  /** Live comments that are stored. */
  readonly comments: number
  readonly neverChecked: number
  /** Of its batches; a scope that failed or is held may be older than the batch it lies in. */
  readonly oldestCheck: Date | null
  readonly newestCheck: Date | null
  /** Scopes that failed when they were last asked for, as the newest run that asked tells. */
  readonly failing: number
  /** Listings that wait for a person. */
  readonly held: number
}

/**
 * A page of organizations in the order of their ids.
 * @param page.search part of the id, in any case; null for all
 * @param page.after id of the last one of the page before; null for the first page
 */
export async function pageOrganizations(
  database: Database,
  page: { search: string | null; after: string | null; max: number },
): Promise<OrganizationFreshness[]> {
  const { search, after, max } = page
  const { rows } = await database.query(sql('organizations/page'), [search, after, max])
  return rows.map((row) => inCamelCase<OrganizationFreshness>(row))
}
