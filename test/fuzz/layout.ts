import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import type { CatalogLine } from '../../src/demo/catalog.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

/** How many of each a database has. */
export interface Layout {
  readonly organizations: number
  readonly documents: number
  readonly annotations: number
  readonly groups: number
}

/** A scope of the catalog. */
export interface Scope {
  readonly kind: 'organization' | 'group' | 'document' | 'annotation'
  readonly organizationId: string
  readonly documentId: string | null
  readonly annotationId: string | null
  readonly groupId: string | null
}

/** Every scope of a layout. */
export function* scopesOf(layout: Layout): Generator<Scope> {
  for (let o = 0; o < layout.organizations; o++) {
    const own = { organizationId: `o${o}`, documentId: null, annotationId: null, groupId: null }
    yield { kind: 'organization', ...own }
    for (let g = 0; g < layout.groups; g++) yield { kind: 'group', ...own, groupId: `g${g}` }
    for (let d = 0; d < layout.documents; d++) {
      const document = { ...own, documentId: `d${o}-${d}` }
      yield { kind: 'document', ...document }
      for (let a = 0; a < layout.annotations; a++)
        yield { kind: 'annotation', ...document, annotationId: `a${o}-${d}-${a}` }
    }
  }
}

/** A database of its own with the catalog of a layout. */
export async function createCatalog(layout: Layout): Promise<TestDatabase> {
  const database = await createTestDatabase()
  await importCatalog(database.pool, listSource('world', linesOf(layout)), { prune: false })
  return database
}

/** The catalog of a layout. */
export function* linesOf(layout: Layout): Generator<CatalogLine> {
  for (const { organizationId, documentId, annotationId, groupId } of scopesOf(layout))
    yield {
      organizationId,
      ...(documentId === null ? {} : { documentId }),
      ...(annotationId === null ? {} : { annotationId }),
      ...(groupId === null ? {} : { organizationUserGroupId: groupId }),
    }
}
