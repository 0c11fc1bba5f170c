import type { Spot } from './comments.ts'
import { indexOf } from './identifiers.ts'

export interface WorldOptions {
  seed: number
  organizations: number
  documentsPerOrganization: number
  annotationsPerDocument: number
  commentsPerAnnotation: number
  usersPerOrganization: number
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

/** Translates ids to indices and counts what each parent has, without storing anything. */
export class Layout {
  readonly #options: WorldOptions
  readonly #skew: boolean

  constructor(options: WorldOptions) {
    this.#options = options
    this.#skew = options.skew ?? true
  }

  /** The index of an organization; undefined if it does not exist. */
  organization(organizationId: string): number | undefined {
    const index = indexOf('organization', organizationId)
    return index !== undefined && index < this.#options.organizations ? index : undefined
  }

  /** The index of a group, the same in every organization. */
  group(groupId: string): number | undefined {
    const index = indexOf('group', groupId)
    return index !== undefined && index < this.#options.groupsPerOrganization ? index : undefined
  }

  document(
    organizationId: string,
    documentId: string,
  ): { organization: number; document: number } | undefined {
    const organization = this.organization(organizationId)
    const document = indexOf('document', documentId)
    if (organization === undefined || document === undefined) return undefined
    return document < this.documentCount(organization) ? { organization, document } : undefined
  }

  spot(place: Place): Spot | undefined {
    const found = this.document(place.organizationId, place.documentId)
    const annotation = indexOf('annotation', place.annotationId)
    if (!found || annotation === undefined) return undefined
    const count = this.annotationCount(found.organization, found.document)
    return annotation < count ? { ...found, annotation } : undefined
  }

  documentCount(organization: number): number {
    const { organizations, documentsPerOrganization } = this.#options
    if (!this.#skew) return documentsPerOrganization
    return share(organizations * documentsPerOrganization, organizations, organization)
  }

  annotationCount(organization: number, document: number): number {
    const { annotationsPerDocument } = this.#options
    if (!this.#skew) return annotationsPerDocument
    const documents = this.documentCount(organization)
    return share(documents * annotationsPerDocument, documents, document)
  }
}

/**
 * The share of part number `index` when `total` is divided among `parts`. The first ones get most: the sums follow a square
 * root, so that the shares add up to the total.
 */
function share(total: number, parts: number, index: number): number {
  return upTo(total, parts, index + 1) - upTo(total, parts, index)
}

function upTo(total: number, parts: number, index: number): number {
  return Math.round(total * Math.sqrt(index / parts))
}
