import type { CatalogLine } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { Scope } from '../../src/schemas/scope.ts'
import type { ServiceResponse } from '../fuzz/response-model.ts'

/** A listing of users: the organization's own if there is no other ID. */
export interface Listing {
  readonly organizationId: string
  readonly documentId?: string
  readonly groupId?: string
}

/** One call with its response. */
export interface Call {
  readonly place: Listing & Partial<Place>
  readonly commentIds: readonly number[] | null
  readonly response: ServiceResponse
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

/** IDs of an annotation or a listing, as a call, a row or a scope has them. */
type Ids = { readonly organizationId: string } & {
  readonly [id in 'documentId' | 'annotationId' | 'groupId']?: string | null | undefined
}

/** The key of an annotation or a listing. */
export function keyOf(place: Ids): string {
  const { organizationId, documentId = null, annotationId = null, groupId = null } = place
  return JSON.stringify([organizationId, documentId, annotationId, groupId])
}
