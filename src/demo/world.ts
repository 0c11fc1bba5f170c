import { generatedComments } from './comments.ts'
import type { Comment, CommentsPlan } from './comments.ts'
import { layOut } from './layout.ts'
import type { Annotation, Organization, Place, Thread, WorldOptions } from './layout.ts'
import type { User } from './people.ts'

const DEFAULT_NOW = new Date('2025-11-03T12:00:00.000Z')

/**
 * A world for the stand-in to serve, the same for the same options. Comments are computed from the seed when they are
 * requested; only those that were changed are stored. What does not exist is undefined.
 */
export class World {
  readonly #options: WorldOptions
  readonly #plan: CommentsPlan
  readonly #organizations: ReadonlyMap<string, Organization>
  readonly #changed = new Set<Annotation>()
  #clockMs: number

  constructor(options: WorldOptions) {
    this.#options = options
    this.#clockMs = (options.now ?? DEFAULT_NOW).getTime()
    this.#plan = { ...options, nowMs: this.#clockMs, skew: options.skew ?? true }
    this.#organizations = layOut(options)
  }

  totals(): { organizations: number; documents: number; annotations: number } {
    const { organizations, documentsPerOrganization, annotationsPerDocument } = this.#options
    const documents = organizations * documentsPerOrganization
    return { organizations, documents, annotations: documents * annotationsPerDocument }
  }

  *organizationIds(): Generator<string> {
    yield* this.#organizations.keys()
  }

  /** Empty for an unknown organization, like the two below for an unknown parent. */
  *documentIds(organizationId: string): Generator<string> {
    yield* this.#organizations.get(organizationId)?.documents.keys() ?? []
  }

  *annotationIds(organizationId: string, documentId: string): Generator<string> {
    yield* this.#document(organizationId, documentId)?.annotations.keys() ?? []
  }

  *groupIds(organizationId: string): Generator<string> {
    yield* this.#organizations.get(organizationId)?.groups.keys() ?? []
  }

  /** The comments that are not deleted. */
  comments(place: Place): readonly Comment[] | undefined {
    return this.thread(place)?.live
  }

  thread(place: Place): Thread | undefined {
    const annotation = this.#annotation(place)
    if (annotation === undefined) return undefined
    return (
      annotation.changed ?? { live: generatedComments(this.#plan, annotation.spot), deleted: [] }
    )
  }

  /** Every annotation whose comments were changed. */
  *changedThreads(): Generator<{ place: Place; thread: Thread }> {
    for (const { place, changed } of this.#changed) if (changed) yield { place, thread: changed }
  }

  /** Replaces the comments of an annotation; `changes.ts` names the ways to do so. */
  putThread(place: Place, thread: Thread): void {
    const annotation = this.#annotation(place)
    if (!annotation) throw new Error(`no annotation ${JSON.stringify(place)}`)
    annotation.changed = thread
    this.#changed.add(annotation)
  }

  /** The organization's own listing. */
  users(organizationId: string): User[] | undefined {
    const organization = this.#organizations.get(organizationId)
    return organization && [...organization.users.values()]
  }

  documentUsers(organizationId: string, documentId: string): User[] | undefined {
    return this.#members(organizationId, this.#document(organizationId, documentId))
  }

  groupMembers(organizationId: string, groupId: string): User[] | undefined {
    return this.#members(
      organizationId,
      this.#organizations.get(organizationId)?.groups.get(groupId),
    )
  }

  /** Users that were removed from the organization's listing, as last listed. */
  removedUsers(organizationId: string): User[] {
    return [...(this.#organizations.get(organizationId)?.removed.values() ?? [])]
  }

  /** Adds a user to the organization's listing, or replaces the one with that id. */
  putUser(organizationId: string, user: User): void {
    const { users, removed } = this.#known(organizationId)
    removed.delete(user.userId)
    users.set(user.userId, user)
  }

  /** Removes a user from the listings of the organization, its documents and its groups. */
  dropUser(organizationId: string, userId: string): void {
    const { users, removed } = this.#known(organizationId)
    const last = users.get(userId)
    if (!last) throw new Error(`no user ${userId} in ${organizationId}`)
    users.delete(userId)
    removed.set(userId, last)
  }

  putDocumentUsers(organizationId: string, documentId: string, userIds: string[]): void {
    const document = this.#document(organizationId, documentId)
    if (!document) throw new Error(`no document ${documentId} in ${organizationId}`)
    document.userIds = userIds
  }

  putGroupMembers(organizationId: string, groupId: string, userIds: string[]): void {
    const group = this.#known(organizationId).groups.get(groupId)
    if (!group) throw new Error(`no group ${groupId} in ${organizationId}`)
    group.userIds = userIds
  }

  /** The time of the next change, ISO 8601: a few seconds after the previous one, not the real time. */
  tick(): string {
    this.#clockMs += 7_321
    return new Date(this.#clockMs).toISOString()
  }

  #document(organizationId: string, documentId: string) {
    return this.#organizations.get(organizationId)?.documents.get(documentId)
  }

  #annotation({ organizationId, documentId, annotationId }: Place): Annotation | undefined {
    return this.#document(organizationId, documentId)?.annotations.get(annotationId)
  }

  #known(organizationId: string): Organization {
    const organization = this.#organizations.get(organizationId)
    if (!organization) throw new Error(`no organization ${organizationId}`)
    return organization
  }

  /** Those that the organization still lists, and guests. */
  #members(organizationId: string, of: { userIds: readonly string[] } | undefined) {
    const { users, guests } = this.#organizations.get(organizationId) ?? {}
    return of?.userIds.flatMap((id) => users?.get(id) ?? guests?.get(id) ?? [])
  }
}
