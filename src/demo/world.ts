import { generatedComments } from './comments.ts'
import type { Comment, CommentsPlan, Spot } from './comments.ts'
import { idOf, indexOf } from './identifiers.ts'
import type { Noun } from './identifiers.ts'
import { Layout } from './layout.ts'
import type { Place, WorldOptions } from './layout.ts'
import { generatedDocumentUserIds, generatedGroupMemberIds } from './people.ts'
import type { User } from './people.ts'
import { Directory } from './directory.ts'

/** The comments of an annotation that was changed: those served, and those that were deleted. */
interface Thread {
  readonly live: readonly Comment[]
  readonly deleted: readonly Comment[]
}

const DEFAULT_NOW = new Date('2025-11-03T12:00:00.000Z')

/**
 * A world for the stand-in to serve, the same for the same options. Nothing is stored of what was
 * not changed: ids, people and comments are computed from the seed when they are asked for.
 */
export function createWorld(options: WorldOptions): World {
  return new World(options)
}

/** The generated data under the changes made to it. Asking for what is not there gives undefined. */
export class World {
  readonly #options: WorldOptions
  readonly #plan: CommentsPlan
  readonly #layout: Layout
  readonly #directory: Directory
  readonly #threads = new Map<string, Thread & { place: Place; revision: number }>()
  #clockMs: number

  constructor(options: WorldOptions) {
    this.#options = options
    const now = options.now ?? DEFAULT_NOW
    this.#plan = { ...options, nowMs: now.getTime(), skew: options.skew ?? true }
    this.#layout = new Layout(options)
    this.#directory = new Directory(this.#plan)
    this.#clockMs = this.#plan.nowMs
  }

  /** How many there are, counted without generating them. */
  totals(): { organizations: number; documents: number; annotations: number } {
    const { organizations, documentsPerOrganization, annotationsPerDocument } = this.#options
    const documents = organizations * documentsPerOrganization
    return { organizations, documents, annotations: documents * annotationsPerDocument }
  }

  *organizationIds(): Generator<string> {
    yield* ids('organization', this.#options.organizations)
  }

  /** Empty for an unknown organization, like the three below for an unknown parent. */
  *documentIds(organizationId: string): Generator<string> {
    const organization = this.#layout.organization(organizationId)
    if (organization !== undefined) yield* ids('document', this.#layout.documentCount(organization))
  }

  *annotationIds(organizationId: string, documentId: string): Generator<string> {
    const found = this.#layout.document(organizationId, documentId)
    if (!found) return
    yield* ids('annotation', this.#layout.annotationCount(found.organization, found.document))
  }

  *groupIds(organizationId: string): Generator<string> {
    if (this.#layout.organization(organizationId) === undefined) return
    yield* ids('group', this.#options.groupsPerOrganization)
  }

  /** The comments that the service holds of an annotation. */
  comments(place: Place): readonly Comment[] | undefined {
    return this.thread(place)?.live
  }

  thread(place: Place): Thread | undefined {
    const spot = this.#layout.spot(place)
    if (!spot) return undefined
    return (
      this.#threads.get(keyOf(spot)) ?? { live: generatedComments(this.#plan, spot), deleted: [] }
    )
  }

  /** Rises with every change to the annotation's comments, so that what was made of them can be kept. */
  commentsRevision(place: Place): number {
    if (this.#threads.size === 0) return 0
    const spot = this.#layout.spot(place)
    return (spot && this.#threads.get(keyOf(spot))?.revision) ?? 0
  }

  /** Every annotation whose comments were changed. */
  *changedThreads(): Generator<{ place: Place; thread: Thread }> {
    for (const thread of this.#threads.values()) yield { place: thread.place, thread }
  }

  /** Replaces the comments of an annotation; `changes.ts` names the ways to do so. */
  putThread(place: Place, { live, deleted }: Thread): void {
    const spot = this.#layout.spot(place)
    if (!spot) throw new Error(`no annotation ${JSON.stringify(place)}`)
    const revision = this.commentsRevision(place) + 1
    this.#threads.set(keyOf(spot), { live, deleted, place: { ...place }, revision })
  }

  /** The organization's own listing. */
  users(organizationId: string): User[] | undefined {
    const organization = this.#layout.organization(organizationId)
    return organization === undefined ? undefined : this.#directory.users(organization)
  }

  documentUsers(organizationId: string, documentId: string): User[] | undefined {
    const found = this.#layout.document(organizationId, documentId)
    if (!found) return undefined
    const { organization, document } = found
    return this.#directory.members(organization, `document ${document}`, () =>
      generatedDocumentUserIds(this.#plan, organization, document),
    )
  }

  groupMembers(organizationId: string, groupId: string): User[] | undefined {
    const organization = this.#layout.organization(organizationId)
    const group = this.#layout.group(groupId)
    if (organization === undefined || group === undefined) return undefined
    return this.#directory.members(organization, `group ${group}`, () =>
      generatedGroupMemberIds(this.#plan, organization, group),
    )
  }

  /** The users who were in the organization's listing and were removed, as last listed. */
  removedUsers(organizationId: string): User[] {
    const organization = this.#layout.organization(organizationId)
    return organization === undefined ? [] : this.#directory.removed(organization)
  }

  /** Rises with every change to the people of the organization. */
  peopleRevision(organizationId: string): number {
    const organization = this.#layout.organization(organizationId)
    return organization === undefined ? 0 : this.#directory.revision(organization)
  }

  /** Adds a user to the organization's listing, or replaces the one with that id. */
  putUser(organizationId: string, user: User): void {
    this.#directory.put(this.#known(organizationId), user)
  }

  /** Takes a user out of the listings of the organization, its documents and its groups. */
  dropUser(organizationId: string, userId: string): void {
    this.#directory.drop(this.#known(organizationId), userId)
  }

  putDocumentUsers(organizationId: string, documentId: string, userIds: string[]): void {
    const organization = this.#known(organizationId)
    const key = `document ${indexOf('document', documentId)}`
    this.#directory.putMembers(organization, key, userIds)
  }

  putGroupMembers(organizationId: string, groupId: string, userIds: string[]): void {
    const organization = this.#known(organizationId)
    this.#directory.putMembers(organization, `group ${indexOf('group', groupId)}`, userIds)
  }

  /** The time of the next change, ISO 8601: a few seconds after the one before, never the real clock. */
  tick(): string {
    this.#clockMs += 7_321
    return new Date(this.#clockMs).toISOString()
  }

  #known(organizationId: string): number {
    const organization = this.#layout.organization(organizationId)
    if (organization === undefined) throw new Error(`no organization ${organizationId}`)
    return organization
  }
}

function keyOf(spot: Spot): string {
  return `${spot.organization}/${spot.document}/${spot.annotation}`
}

function* ids(noun: Noun, count: number): Generator<string> {
  for (let index = 0; index < count; index++) yield idOf(noun, index)
}
