import { places } from '../../src/demo/catalog.ts'
import { expectedDocumentUsers, expectedGroupMembers } from '../service/expected.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { User } from '../../src/demo/people.ts'
import type { World } from '../../src/demo/world.ts'

/** A version of a comment as a run found it. */
export interface Version {
  readonly change: 'added' | 'edited' | 'deleted' | 'restored'
  readonly comment: Comment
  /** Which run, from 0. */
  readonly run: number
}

export interface KnownComment {
  readonly place: Place
  readonly versions: Version[]
}

/** A stay in a document or user group: from a run, until the run that found it over. */
export interface Stay {
  readonly organizationId: string
  readonly kind: 'document' | 'user group'
  readonly id: string
  readonly userId: string
  readonly since: number
  until: number | null
}

export interface Person {
  name: string | null
  email: string | null
  listed: boolean
  everListed: boolean
}

/**
 * What somebody knows who looked at the world after each change and wrote it down in the plainest way: nothing of the
 * program is used, so that its tables can be checked against it.
 */
export class Known {
  readonly comments = new Map<string, KnownComment>()
  readonly stays: Stay[] = []
  /** By organization, by user id. */
  readonly people = new Map<string, Map<string, Person>>()
  readonly held = new Set<string>()
  #run = -1

  /** Looks at the whole world once more, as a run does. */
  look(world: World): void {
    this.#run += 1
    for (const place of places(world)) this.#lookAtThread(place, world.comments(place) ?? [])
    this.#lookAtListings(world)
    for (const organizationId of world.organizationIds()) this.#lookAtPeople(world, organizationId)
  }

  /** Whether the last answer lacked the user without ending the stay. */
  isHeld(stay: Stay): boolean {
    return stay.until === null && stay.since < this.#run && this.held.has(listingOf(stay))
  }

  live(): { place: Place; comment: Comment; first: Comment }[] {
    return [...this.comments.values()].flatMap(({ place, versions }) => {
      const [first, last] = [versions[0], versions.at(-1)]
      if (!first || !last || last.change === 'deleted') return []
      return [{ place, comment: last.comment, first: first.comment }]
    })
  }

  nameOf(organizationId: string, userId: string | undefined): string | null {
    return this.people.get(organizationId)?.get(userId ?? '')?.name ?? null
  }

  #lookAtThread(place: Place, served: readonly Comment[]): void {
    const seen = new Set<string>()
    for (const comment of served) {
      const key = JSON.stringify([place, comment.commentId])
      seen.add(key)
      const known = this.comments.get(key)
      const last = known?.versions.at(-1)
      if (!known || !last) {
        const versions: Version[] = [{ change: 'added', comment, run: this.#run }]
        this.comments.set(key, { place, versions })
      } else if (last.change === 'deleted') {
        known.versions.push({ change: 'restored', comment, run: this.#run })
      } else if (content(last.comment) !== content(comment)) {
        known.versions.push({ change: 'edited', comment, run: this.#run })
      }
    }
    for (const [key, known] of this.comments) {
      const last = known.versions.at(-1)
      if (JSON.stringify(known.place) !== JSON.stringify(place) || seen.has(key)) continue
      if (last && last.change !== 'deleted') {
        known.versions.push({ change: 'deleted', comment: last.comment, run: this.#run })
      }
    }
  }

  #lookAtListings(world: World): void {
    const now = [
      ...[...expectedDocumentUsers(world)].map(
        ({ organizationId, documentId, userId }) =>
          ({ organizationId, kind: 'document', id: documentId, userId }) as const,
      ),
      ...[...expectedGroupMembers(world)].map(
        ({ organizationId, organizationUserGroupId, userId }) =>
          ({ organizationId, kind: 'user group', id: organizationUserGroupId, userId }) as const,
      ),
    ]
    const nameOf = (one: (typeof now)[number]) => JSON.stringify([listingOf(one), one.userId])
    const present = new Set(now.map(nameOf))
    const open = this.stays.filter(({ until }) => until === null)
    this.held.clear()
    for (const stay of open) {
      const ofListing = open.filter((other) => listingOf(other) === listingOf(stay))
      // A listing that lost everybody is held: nobody is removed until a person looks.
      if (ofListing.every((other) => !present.has(nameOf(other)))) this.held.add(listingOf(stay))
      else if (!present.has(nameOf(stay))) stay.until = this.#run
    }
    const staying = new Set(open.map(nameOf))
    for (const one of now) {
      if (!staying.has(nameOf(one))) this.stays.push({ ...one, since: this.#run, until: null })
    }
  }

  #lookAtPeople(world: World, organizationId: string): void {
    const people = this.people.get(organizationId) ?? new Map<string, Person>()
    this.people.set(organizationId, people)
    const listing = world.users(organizationId) ?? []
    const listed = new Set(listing.map(({ userId }) => userId))
    for (const [userId, person] of people) if (!listed.has(userId)) person.listed = false
    for (const user of listing) {
      people.set(user.userId, { ...columns(user), listed: true, everListed: true })
    }
    const meet = (user: User | undefined) => {
      if (user === undefined || people.has(user.userId)) return
      people.set(user.userId, { ...columns(user), listed: false, everListed: false })
    }
    for (const documentId of world.documentIds(organizationId))
      for (const user of world.documentUsers(organizationId, documentId) ?? []) meet(user)
    for (const groupId of world.groupIds(organizationId))
      for (const user of world.groupMembers(organizationId, groupId) ?? []) meet(user)
    for (const place of places(world)) {
      if (place.organizationId !== organizationId) continue
      for (const comment of world.comments(place) ?? []) meet(comment.from)
    }
  }
}

function listingOf(one: { organizationId: string; kind: string; id: string }): string {
  return JSON.stringify([one.organizationId, one.kind, one.id])
}

function columns(user: User): { name: string | null; email: string | null } {
  return { name: user.name ?? null, email: user.email ?? null }
}

/** What makes a version: not the author, nor members that the service does not document. */
function content({ commentText, commentHtml, status, type, lastUpdated }: Comment): string {
  return JSON.stringify([commentText, commentHtml, status, type, lastUpdated])
}
