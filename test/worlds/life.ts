import type { CatalogLine } from '../../src/demo/catalog.ts'
import { catalogLines } from '../../src/demo/catalog.ts'
import { htmlOf } from '../../src/demo/comments.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import { generatedGuest, summary } from '../../src/demo/people.ts'
import type { User } from '../../src/demo/people.ts'
import { Random } from '../../src/demo/random.ts'
import { World } from '../../src/demo/world.ts'
import { keyOf } from './log.ts'
import type { Listing } from './log.ts'

const LAYOUT = {
  organizations: 3,
  documentsPerOrganization: 4,
  annotationsPerDocument: 3,
  commentsPerAnnotation: 0,
  usersPerOrganization: 8,
  groupsPerOrganization: 2,
  skew: false,
}
/** Documents of each organization in the first catalog. The last one gets the comments of a renamed document. */
const LISTED_DOCUMENTS = 3
/** Users who never leave a listing. The removal of all users of a listing would be held; test/fuzz tests that. */
const ALWAYS_IN = 2
const HISTORY_DAYS = 40
const STATUSES = ['added', 'added', 'updated', 'resolved', 'wontFix'] as const
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** The relative frequency of each kind of event. */
const KINDS = {
  write: 45,
  edit: 18,
  erase: 7,
  restore: 4,
  rename: 4,
  leaveOrganization: 2,
  comeBack: 2,
  leaveListing: 4,
  joinListing: 4,
  dropDocument: 1,
  listDocument: 2,
  renameDocument: 1,
  dropGroup: 0.5,
  listGroup: 1,
  dropOrganization: 0.3,
  listOrganization: 1,
} as const
type Kind = keyof typeof KINDS

/** A random world with its changes and its catalog. */
export class Life {
  readonly world: World
  readonly #random: Random
  readonly #options
  readonly #dropped = new Set<string>()
  readonly #left = new Map<string, User>()
  #nowMs: number
  #lastCommentId = 100
  #names = 0

  /** @param start the morning before the first night */
  constructor(seed: number, start: Date) {
    this.#random = new Random(seed)
    this.#options = { ...LAYOUT, seed, now: start }
    this.world = new World(this.#options)
    this.#nowMs = start.getTime() - HISTORY_DAYS * DAY_MS
    this.#settle()
    // Changes before the first check, most of which no check can find.
    for (let count = 0; count < 90; count++) {
      this.#pass((HISTORY_DAYS * DAY_MS) / 100)
      this.#happen(this.#pickKind(['write', 'write', 'edit', 'erase', 'restore']))
    }
    this.#nowMs = start.getTime()
  }

  /** Some events until a time. */
  liveUntil(end: Date): void {
    const count = 4 + this.#random.below(10)
    const stepMs = (end.getTime() - this.#nowMs) / (count + 1)
    for (let index = 0; index < count; index++) {
      this.#pass(stepMs)
      this.#happen(this.#drawKind())
    }
    this.#nowMs = end.getTime()
  }

  /** The current lines of the catalog, without those of a dropped parent. */
  *catalog(): Generator<CatalogLine> {
    for (const line of catalogLines(this.world)) {
      const { organizationId } = line
      const parents: Listing[] = [{ organizationId }]
      if ('documentId' in line) parents.push({ organizationId, documentId: line.documentId })
      if ('organizationUserGroupId' in line)
        parents.push({ organizationId, groupId: line.organizationUserGroupId })
      if (!parents.some((parent) => this.#dropped.has(keyOf(parent)))) yield line
    }
  }

  /** A random user of a random organization. */
  anybody(): { organizationId: string; userId: string } {
    const organizationId = this.#organization()
    return { organizationId, userId: this.#random.pick(this.#users(organizationId)).userId }
  }

  #settle(): void {
    for (const organizationId of this.world.organizationIds()) {
      const ids = this.#users(organizationId).map(({ userId }) => userId)
      const some = () => ids.filter((_, index) => index < ALWAYS_IN || this.#random.next() < 0.5)
      const documents = [...this.world.documentIds(organizationId)]
      for (const [index, documentId] of documents.entries()) {
        const guests = index % 4 === 1 ? [generatedGuest(this.#options, 0, index).userId] : []
        this.world.putDocumentUsers(organizationId, documentId, [...some(), ...guests])
        if (index >= LISTED_DOCUMENTS) this.#dropped.add(keyOf({ organizationId, documentId }))
      }
      for (const groupId of this.world.groupIds(organizationId))
        this.world.putGroupMembers(organizationId, groupId, some())
      for (const user of this.#users(organizationId)) this.#name(organizationId, user)
    }
  }

  /** Moves the time of the world, but never into the first ten minutes of an hour, in which runs start. */
  #pass(stepMs: number): void {
    this.#nowMs += stepMs * (0.5 + this.#random.next() / 2)
    this.#nowMs = Math.round(this.#nowMs)
    const hourMs = 60 * MINUTE_MS
    if (this.#nowMs % hourMs < 10 * MINUTE_MS) this.#nowMs += 10 * MINUTE_MS
  }

  #pickKind(kinds: readonly Kind[]): Kind {
    return this.#random.pick(kinds)
  }

  #drawKind(): Kind {
    const all = Object.values(KINDS).reduce((sum, each) => sum + each, 0)
    let draw = this.#random.next() * all
    for (const [kind, share] of Object.entries(KINDS)) if ((draw -= share) < 0) return kind as Kind
    return 'write'
  }

  /** One event, if the world has an object for it. */
  #happen(kind: Kind): void {
    const organizationId = this.#organization()
    switch (kind) {
      case 'write':
        return this.#write(this.#place(organizationId))
      case 'edit':
      case 'erase':
      case 'restore':
        return this.#change(kind, this.#place(organizationId))
      case 'rename':
        return this.#rename(organizationId, this.#random.pick(this.#users(organizationId)))
      case 'leaveOrganization':
        return this.#leaveOrganization(organizationId)
      case 'comeBack':
        return this.#comeBack()
      case 'leaveListing':
      case 'joinListing':
        return this.#changeListing(kind, organizationId)
      case 'dropDocument':
      case 'listDocument':
        return this.#changeCatalog(kind === 'dropDocument', this.#documentOf(organizationId))
      case 'renameDocument':
        return this.#renameDocument(organizationId)
      case 'dropGroup':
      case 'listGroup': {
        const groupId = this.#random.pick([...this.world.groupIds(organizationId)])
        return this.#changeCatalog(kind === 'dropGroup', { organizationId, groupId })
      }
      case 'dropOrganization':
      case 'listOrganization':
        // The first organization always stays.
        if (organizationId === 'org-0') return
        return this.#changeCatalog(kind === 'dropOrganization', { organizationId })
    }
  }

  #write(place: Place): void {
    const at = this.#at()
    const text = `${this.#random.next() < 0.2 ? '请看合计' : 'Draft'} ${this.#random.below(1000)}`
    const comment: Comment = {
      commentId: (this.#lastCommentId += 1 + this.#random.below(9)),
      commentText: text,
      commentHtml: htmlOf(text),
      from: this.#author(place),
      lastUpdated: at,
      status: 'added',
      type: this.#random.next() < 0.1 ? 'voice' : 'text',
    }
    // Some services send this field for some comments only.
    if (this.#random.next() < 0.9) comment['createdAt'] = at
    this.#put(place, { live: [...this.#live(place), comment], deleted: this.#gone(place) })
  }

  #change(kind: 'edit' | 'erase' | 'restore', place: Place): void {
    const [live, deleted] = [this.#live(place), this.#gone(place)]
    const from = kind === 'restore' ? deleted : live
    if (from.length === 0) return
    const old = this.#random.pick(from)
    const others = (list: readonly Comment[]) => list.filter((one) => one !== old)
    if (kind === 'erase') {
      return this.#put(place, { live: others(live), deleted: [...deleted, old] })
    }
    const comment = { ...old, lastUpdated: this.#at() }
    if (kind === 'restore') {
      return this.#put(place, { live: [...live, comment], deleted: others(deleted) })
    }
    if (this.#random.next() < 0.6) comment.status = this.#random.pick(STATUSES)
    else {
      comment.commentText = `${old.commentText} again`
      comment.commentHtml = htmlOf(comment.commentText)
    }
    if (this.#random.next() < 0.1) comment.type = `type-${this.#random.below(3)}`
    this.#put(place, { live: live.map((one) => (one === old ? comment : one)), deleted })
  }

  /** Mostly a member of the document, sometimes a user who is in no listing and has another name each time. */
  #author({ organizationId, documentId }: Place): User {
    const members = this.world.documentUsers(organizationId, documentId) ?? []
    if (members.length > 0 && this.#random.next() < 0.93) return summary(this.#random.pick(members))
    return { userId: 'former-0', name: `Former ${organizationId} ${this.#random.below(4)}` }
  }

  /** Every third time, only an undocumented field changes. */
  #rename(organizationId: string, user: User): void {
    if (this.#names % 3 > 0) return this.#name(organizationId, user)
    const photoUrl = `https://img.example/${++this.#names}.png`
    this.world.putUser(organizationId, { ...user, photoUrl })
  }

  /** Gives the user a new name, which no user had before. */
  #name(organizationId: string, user: User): void {
    this.world.putUser(organizationId, { ...user, name: `Name ${++this.#names} of somebody` })
  }

  #leaveOrganization(organizationId: string): void {
    const user = this.#random.pick(this.#users(organizationId))
    const index = this.#users(organizationId).indexOf(user)
    if (index < ALWAYS_IN) return
    const { userId } = user
    this.world.dropUser(organizationId, userId)
    this.#left.set(JSON.stringify([organizationId, userId]), user)
  }

  #comeBack(): void {
    if (this.#left.size === 0) return
    const key = this.#random.pick([...this.#left.keys()])
    const [organizationId] = JSON.parse(key) as [string]
    const user = this.#left.get(key) as User
    this.#left.delete(key)
    this.#name(organizationId, user)
  }

  #changeListing(kind: 'leaveListing' | 'joinListing', organizationId: string): void {
    const listing = this.#random.pick(
      this.#listings(organizationId).filter((one) => keyOf(one) !== keyOf({ organizationId })),
    )
    const ids = this.#members(listing).map(({ userId }) => userId)
    if (kind === 'leaveListing') {
      const userId = ids[ALWAYS_IN + this.#random.below(ids.length)]
      if (userId === undefined) return
      const others = ids.filter((id) => id !== userId)
      return this.#putMembers(listing, others)
    }
    const user = this.#random.pick(this.#users(organizationId))
    if (ids.includes(user.userId)) return
    this.#putMembers(listing, [...ids, user.userId])
  }

  #changeCatalog(isDropped: boolean, listing: Listing): void {
    if (isDropped) this.#dropped.add(keyOf(listing))
    else this.#dropped.delete(keyOf(listing))
  }

  /** Moves the comments and members of a document to another ID, which replaces it in the catalog. */
  #renameDocument(organizationId: string): void {
    const documents = [...this.world.documentIds(organizationId)]
    const keyed = (documentId: string) => keyOf({ organizationId, documentId })
    const to = documents.find((id) => this.#dropped.has(keyed(id)))
    // The first document always stays.
    const from = this.#random.pick(documents.slice(1))
    if (to === undefined || this.#dropped.has(keyed(from)) || documents.indexOf(to) === 0) return
    for (const annotationId of this.world.annotationIds(organizationId, from)) {
      const [old, place] = [from, to].map((documentId) => ({
        organizationId,
        documentId,
        annotationId,
      })) as [Place, Place]
      this.#put(place, { live: this.#live(old), deleted: [] })
      this.#put(old, { live: [], deleted: [] })
    }
    const members = this.#members({ organizationId, documentId: from })
    this.world.putDocumentUsers(
      organizationId,
      to,
      members.map(({ userId }) => userId),
    )
    this.#dropped.add(keyed(from))
    this.#dropped.delete(keyed(to))
  }

  #organization(): string {
    return this.#random.pick([...this.world.organizationIds()])
  }

  #documentOf(organizationId: string): Listing {
    const documents = [...this.world.documentIds(organizationId)].slice(1)
    return { organizationId, documentId: this.#random.pick(documents) }
  }

  #place(organizationId: string): Place {
    const documentId = this.#random.pick([...this.world.documentIds(organizationId)])
    const annotations = [...this.world.annotationIds(organizationId, documentId)]
    return { organizationId, documentId, annotationId: this.#random.pick(annotations) }
  }

  #listings(organizationId: string): Listing[] {
    const documents = [...this.world.documentIds(organizationId)]
    const groups = [...this.world.groupIds(organizationId)]
    return [
      { organizationId },
      ...documents.map((documentId) => ({ organizationId, documentId })),
      ...groups.map((groupId) => ({ organizationId, groupId })),
    ]
  }

  #members(listing: Listing): readonly User[] {
    return membersOf(this.world, listing)
  }

  #putMembers({ organizationId, documentId, groupId }: Listing, ids: string[]): void {
    if (documentId !== undefined) this.world.putDocumentUsers(organizationId, documentId, ids)
    else if (groupId !== undefined) this.world.putGroupMembers(organizationId, groupId, ids)
  }

  #users(organizationId: string): User[] {
    return this.world.users(organizationId) ?? []
  }

  #live(place: Place): readonly Comment[] {
    return this.world.thread(place)?.live ?? []
  }

  #gone(place: Place): readonly Comment[] {
    return this.world.thread(place)?.deleted ?? []
  }

  #put(place: Place, thread: { live: readonly Comment[]; deleted: readonly Comment[] }): void {
    this.world.putThread(place, thread)
  }

  #at(): string {
    return new Date(this.#nowMs).toISOString()
  }
}

/** The current users of a listing of the world. */
export function membersOf(world: World, { organizationId, documentId, groupId }: Listing): User[] {
  if (documentId !== undefined) return world.documentUsers(organizationId, documentId) ?? []
  if (groupId !== undefined) return world.groupMembers(organizationId, groupId) ?? []
  return world.users(organizationId) ?? []
}
