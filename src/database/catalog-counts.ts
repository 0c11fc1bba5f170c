import type { Database } from './pool.ts'
import * as catalog from './statements/catalog.ts'

/** Rows of the catalog by kind. */
export interface CatalogSize {
  readonly active: Readonly<Record<CatalogKind, number>>
  /** No longer listed, so no longer asked for; what was stored of them stays. */
  readonly inactive: Readonly<Record<CatalogKind, number>>
}

export type CatalogKind = 'organizations' | 'documents' | 'annotations' | 'userGroups'

/** Counts the catalog; a fraction of a second for a million annotations. */
export async function countCatalog(database: Database): Promise<CatalogSize> {
  const row = await catalog.count.one(database)
  return {
    active: {
      organizations: row.organizations,
      documents: row.documents,
      annotations: row.annotations,
      userGroups: row.userGroups,
    },
    inactive: {
      organizations: row.inactiveOrganizations,
      documents: row.inactiveDocuments,
      annotations: row.inactiveAnnotations,
      userGroups: row.inactiveUserGroups,
    },
  }
}
