import type { Database } from './pool.ts'
import { sql } from './sql.ts'

/** Rows of the catalog by kind. */
export interface CatalogSize {
  readonly active: Readonly<Record<CatalogKind, number>>
  /** No longer listed, so no longer asked for; what was stored of them stays. */
  readonly inactive: Readonly<Record<CatalogKind, number>>
}

export type CatalogKind = 'organizations' | 'documents' | 'annotations' | 'userGroups'

/** Counts the catalog; a fraction of a second for a million annotations. */
export async function countCatalog(database: Database): Promise<CatalogSize> {
  const { rows } = await database.query(sql('catalog/count'))
  const row = rows[0]
  return {
    active: {
      organizations: row.organizations,
      documents: row.documents,
      annotations: row.annotations,
      userGroups: row.user_groups,
    },
    inactive: {
      organizations: row.inactive_organizations,
      documents: row.inactive_documents,
      annotations: row.inactive_annotations,
      userGroups: row.inactive_user_groups,
    },
  }
}

/** The id of one active organization; null where the catalog is empty. */
export async function findOrganization(database: Database): Promise<string | null> {
  const { rows } = await database.query(sql('catalog/any-organization'))
  return rows[0]?.organization_id ?? null
}

/** The id of one active organization that is none of those given; null where there is none. */
export async function findOrganizationBeyond(
  database: Database,
  organizationIds: readonly string[],
): Promise<string | null> {
  const { rows } = await database.query(sql('catalog/any-organization-beyond'), [organizationIds])
  return rows[0]?.organization_id ?? null
}
