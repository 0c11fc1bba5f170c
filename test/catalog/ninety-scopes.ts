import { listSource } from '../../src/features/catalog/lines.ts'
import type { CatalogSource } from '../../src/features/catalog/lines.ts'
import type { CatalogLine } from '../../src/schemas/catalog-line.ts'

/** 90 scopes: two organizations, one with a document and 82 annotations, the other with five user groups. */
export const LINES: readonly CatalogLine[] = [
  ...Array.from({ length: 82 }, (_, n) => annotation(n)),
  ...Array.from({ length: 5 }, (_, n) => group(n)),
]

export function annotation(n: number, organizationId = 'acme'): CatalogLine {
  return { organizationId, documentId: 'plan', annotationId: `a${n}` }
}

export function group(n: number): CatalogLine {
  return { organizationId: 'small', organizationUserGroupId: `g${n}` }
}

export const sourceOf = (lines: Iterable<CatalogLine>): CatalogSource => listSource('lines', lines)

/** Where every row of the catalog lies and which transaction wrote it: any write shows. */
export const STAMPS: string = [
  'organizations',
  'batches',
  'documents',
  'annotations',
  'user_groups',
  'listings',
]
  .map((table) => `select '${table}' as t, ctid::text, xmin::text from collab_store.${table}`)
  .join(' union all ')
  .concat(' order by 1, 2')
