import type { CatalogLine } from '../../src/demo/catalog.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { User } from '../../src/demo/people.ts'
import type { Scope } from '../../src/documents/scope.ts'

/** Whose listing it is: the organization's own where there is no other id. */
export interface Listing {
  readonly organizationId: string
  readonly documentId?: string
  readonly groupId?: string
}

/** One call, and the records that it was answered with; null where it failed. */
export interface Call {
  readonly place: Listing & Partial<Place>
  readonly commentIds: readonly number[] | null
  readonly comments?: readonly (Comment | null)[] | null
  readonly users?: readonly User[] | null
}

/** What was done to one database, and what was seen while it was done. */
export type Deed = { readonly at: Date } & (
  | { readonly kind: 'catalog'; lines: readonly CatalogLine[] }
  | { readonly kind: 'run'; scope: Scope; calls: readonly Call[]; isStopped: boolean }
  | { readonly kind: 'prune'; before: Date }
  | {
      readonly kind: 'erase'
      organizationId: string | null
      userId: string
      /** What stands for the person since. */
      pseudonym: string
    }
)

/** The place of an annotation or a listing as a key of maps. */
export function keyOf(place: Listing & Partial<Place>): string {
  const { organizationId, documentId = null, annotationId = null, groupId = null } = place
  return JSON.stringify([organizationId, documentId, annotationId, groupId])
}
