import type { CatalogLine } from '../../src/demo/catalog.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { User } from '../../src/demo/people.ts'
import type { Scope } from '../../src/documents/scope.ts'

/** A listing of users: the organization's own if there is no other ID. */
export interface Listing {
  readonly organizationId: string
  readonly documentId?: string
  readonly groupId?: string
}

/** One call with its records, which are null if it failed. */
export interface Call {
  readonly place: Listing & Partial<Place>
  readonly commentIds: readonly number[] | null
  readonly comments?: readonly (Comment | null)[] | null
  readonly users?: readonly User[] | null
}

/** What was done to one database, with the calls that it caused. */
export type Deed = { readonly at: Date } & (
  | { readonly kind: 'catalog'; lines: readonly CatalogLine[] }
  | { readonly kind: 'run'; scope: Scope; calls: readonly Call[]; isStopped: boolean }
  | { readonly kind: 'prune'; before: Date }
  | {
      readonly kind: 'erase'
      organizationId: string | null
      userId: string
      /** Replaces the ID of the user. */
      pseudonym: string
    }
)

/** The key of an annotation or a listing. */
export function keyOf(place: Listing & Partial<Place>): string {
  const { organizationId, documentId = null, annotationId = null, groupId = null } = place
  return JSON.stringify([organizationId, documentId, annotationId, groupId])
}
