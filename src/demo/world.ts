import { generatedComments } from './comments.ts'
import type { Comment, CommentsPlan, Spot } from './comments.ts'
import { idOf, indexOf } from './identifiers.ts'
import type { Noun } from './identifiers.ts'
import { Layout } from './layout.ts'
import type { Place, WorldOptions } from './layout.ts'
import { generatedDocumentUserIds, generatedGroupMemberIds } from './people.ts'
import type { User } from './people.ts'
import { Directory } from './directory.ts'

/** The comments of an annotation: those in its listing, and those that were deleted. */
interface Thread {
  readonly live: readonly Comment[]
  readonly deleted: readonly Comment[]
}

const DEFAULT_NOW = new Date('2025-11-03T12:00:00.000Z')

/**
 * A world for the stand-in to serve, the same for the same options. Ids, people and comments are computed from the seed when
 * they are requested; only what was changed is stored. What does not exist is undefined.
 */
export function createWorld(options: WorldOptions): World {
  return new World(options)
}

/** See {@link createWorld}. */
export class World {
  readonly #options: WorldOptions
  readonly #plan: CommentsPlan
  readonly #layout: Layout
  readonly #directories = new Map<number, Directory>()
  readonly #threads = new Map<string, { place: Place; thread: Thread }>()
  #clockMs: number

  constructor(options: WorldOptions) {
    this.#options = options
    const now = options.now ?? DEFAULT_NOW
    this.#plan = { ...options, nowMs: now.getTime(), skew: options.skew ?? true }
    this.#layout = new Layout(options)
    this.#clockMs = this.#plan.nowMs
  }

  /** Counts of everything, without generating it. */
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

  /** The comments that are not deleted. */
  comments(place: Place): readonly Comment[] | undefined {
    return this.thread(place)?.live
  }

  thread(place: Place): Thread | undefined {
    const spot = this.#layout.spot(place)
    if (!spot) return undefined
    const changed = this.#threads.get(keyOf(spot))?.thread
    return changed ?? { live: generatedComments(this.#plan, spot), deleted: [] }
  }

  /** Every annotation whose comments were changed. */
  changedThreads(): Iterable<{ place: Place; thread: Thread }> {
    return this.#threads.values()
  }

  /** Replaces the comments of an annotation; `changes.ts` names the ways to do so. */
  putThread(place: Place, thread: Thread): void {
    const spot = this.#layout.spot(place)
    if (!spot) throw new Error(`no annotation ${JSON.stringify(place)}`)
    this.#threads.set(keyOf(spot), { place: { ...place }, thread })
  }

  /** The organization's own listing. */
  users(organizationId: string): User[] | undefined {
    return this.#directory(organizationId)?.users()
  }

  documentUsers(organizationId: string, documentId: string): User[] | undefined {
    const found = this.#layout.document(organizationId, documentId)
    if (!found) return undefined
    const { organization, document } = found
    return this.#directory(organizationId)?.members(`document ${document}`, () =>
      generatedDocumentUserIds(this.#plan, organization, document),
    )
  }

  groupMembers(organizationId: string, groupId: string): User[] | undefined {
    const organization = this.#layout.organization(organizationId)
    const group = this.#layout.group(groupId)
    if (organization === undefined || group === undefined) return undefined
    return this.#directory(organizationId)?.members(`group ${group}`, () =>
      generatedGroupMemberIds(this.#plan, organization, group),
    )
  }

  /** Users that were removed from the organization's listing, as last listed. */
  removedUsers(organizationId: string): User[] {
    return this.#directory(organizationId)?.removed() ?? []
  }

  /** Adds a user to the organization's listing, or replaces the one with that id. */
  putUser(organizationId: string, user: User): void {
    this.#known(organizationId).put(user)
  }

  /** Removes a user from the listings of the organization, its documents and its groups. */
  dropUser(organizationId: string, userId: string): void {
    this.#known(organizationId).drop(userId)
  }

  putDocumentUsers(organizationId: string, documentId: string, userIds: string[]): void {
    const key = `document ${indexOf('document', documentId)}`
    this.#known(organizationId).putMembers(key, userIds)
  }

  putGroupMembers(organizationId: string, groupId: string, userIds: string[]): void {
    this.#known(organizationId).putMembers(`group ${indexOf('group', groupId)}`, userIds)
  }

  /** The time of the next change, ISO 8601: a few seconds after the previous one, not the real time. */
  tick(): string {
    this.#clockMs += 7_321
    return new Date(this.#clockMs).toISOString()
  }

  #directory(organizationId: string): Directory | undefined {
    const organization = this.#layout.organization(organizationId)
    if (organization === undefined) return undefined
    const kept = this.#directories.get(organization)
    const directory = kept ?? new Directory(this.#plan, organization)
    if (!kept) this.#directories.set(organization, directory)
    return directory
  }

  #known(organizationId: string): Directory {
    const directory = this.#directory(organizationId)
    if (!directory) throw new Error(`no organization ${organizationId}`)
    return directory
  }
}

function keyOf(spot: Spot): string {
  return `${spot.organization}/${spot.document}/${spot.annotation}`
}

function* ids(noun: Noun, count: number): Generator<string> {
  for (let index = 0; index < count; index++) yield idOf(noun, index)
}
