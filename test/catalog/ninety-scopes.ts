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
