import type { Comment, CommentsPlan, Spot } from './comments.ts'
import { idOf } from './identifiers.ts'
import type { Noun } from './identifiers.ts'
import {
  generatedDocumentUserIds,
  generatedGroupMemberIds,
  generatedGuest,
  generatedUser,
} from './people.ts'
import type { User } from './people.ts'

export interface WorldOptions extends Omit<CommentsPlan, 'nowMs' | 'skew'> {
  organizations: number
  documentsPerOrganization: number
  annotationsPerDocument: number
  groupsPerOrganization: number
  /** Comments are from the 90 days before it. Default: a fixed day. */
  now?: Date
  /** True (default): the numbers above are means. False: each parent has exactly that many. */
  skew?: boolean
}

/** The full name of an annotation. */
export interface Place {
  organizationId: string
  documentId: string
  annotationId: string
}

/** The comments of an annotation: those in its listing, and those that were deleted. */
export interface Thread {
  readonly live: readonly Comment[]
  readonly deleted: readonly Comment[]
}

/** An annotation. Its comments are computed whenever they are requested, unless they were changed. */
export interface Annotation {
  readonly place: Place
  readonly spot: Spot
  changed?: Thread
}

/** The contents of an organization by their IDs. Documents and groups have the IDs of their users. */
export interface Organization {
  readonly users: Map<string, User>
  /** Users that were removed from the listing, as last listed. */
  readonly removed: Map<string, User>
  /** In no listing of the organization. */
  readonly guests: ReadonlyMap<string, User>
  readonly groups: ReadonlyMap<string, { userIds: readonly string[] }>
  readonly documents: ReadonlyMap<
    string,
    { userIds: readonly string[]; readonly annotations: ReadonlyMap<string, Annotation> }
  >
}

/** The organizations of a world with their people, documents and annotations. */
export function layOut(options: WorldOptions): ReadonlyMap<string, Organization> {
  const { organizations, documentsPerOrganization, annotationsPerDocument, skew = true } = options
  const byId = <T>(noun: Noun, count: number, make: (index: number, id: string) => T) => {
    const ids = Array.from({ length: count }, (_, index) => idOf(noun, index, options.names))
    return new Map(ids.map((id, index) => [id, make(index, id)]))
  }
  const part = (mean: number, parts: number, index: number) =>
    skew ? share(mean * parts, parts, index) : mean
  return byId('organization', organizations, (organization, organizationId) => {
    const documents = part(documentsPerOrganization, organizations, organization)
    return {
      users: byId('user', options.usersPerOrganization, (index) =>
        generatedUser(options, organization, index),
      ),
      removed: new Map(),
      guests: byId('guest', documents, (index) => generatedGuest(options, organization, index)),
      groups: byId('group', options.groupsPerOrganization, (index) => ({
        userIds: generatedGroupMemberIds(options, organization, index),
      })),
      documents: byId('document', documents, (document, documentId) => ({
        userIds: generatedDocumentUserIds(options, organization, document),
        annotations: byId(
          'annotation',
          part(annotationsPerDocument, documents, document),
          (annotation, annotationId) => ({
            place: { organizationId, documentId, annotationId },
            spot: { organization, document, annotation },
          }),
        ),
      })),
    }
  })
}

/**
 * The share of part number `index` when `total` is divided among `parts`. The first ones get most: the sums follow a square
 * root, so that the shares add up to the total.
 */
function share(total: number, parts: number, index: number): number {
  const upTo = (end: number) => Math.round(total * Math.sqrt(end / parts))
  return upTo(index + 1) - upTo(index)
}
