import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { User } from '../../src/demo/people.ts'
import { keyOf } from './log.ts'
import type { Call, Deed, Listing } from './log.ts'

/** A scope: the comments of an annotation, or a listing of users. */
export interface Looked {
  readonly level: 'organization' | 'user group' | 'document' | 'annotation'
  readonly place: Listing & Partial<Place>
  inCatalog: boolean
  /** Start of the last successful check of the whole scope. */
  checkedAt: Date | null
  /** The first failed check since the last successful one. */
  failingSince: Date | null
  /** Whether the last listing was complete, and no later check found more. */
  isWhole: boolean
}

export interface Version {
  readonly number: number
  readonly change: 'added' | 'edited' | 'deleted' | 'restored'
  text: string | null
  readonly status: string
  readonly type: string
  readonly lastUpdated: string
  readonly from: Date
  until: Date | null
}

export interface KnownComment {
  readonly thread: Looked
  readonly place: Place
  readonly commentId: number
  author: { userId: string; name: string | null; email: string | null }
  /** The versions that `prune` kept, the current one last. */
  versions: Version[]
  /** From COMMENT_WRITTEN_MEMBER, or else lastUpdated of the first received version. */
  writtenAt: string
  isExact: boolean
  /** The last successful check before the first one that returned it, unless that check may have missed it. */
  readonly notBefore: Date | null
  changedAt: Date
}

export interface PersonVersion {
  readonly number: number
  readonly change: 'added' | 'edited' | 'listed' | 'removed' | 'restored'
  name: string | null
  email: string | null
  readonly listed: boolean
  readonly leftAt: Date | null
  readonly from: Date
  until: Date | null
}

export interface Person {
  readonly organizationId: string
  userId: string
  readonly firstSeenAt: Date
  /** Where the name comes from: 3 the organization's listing, 2 another listing, 1 a comment. */
  source: 1 | 2 | 3
  /** lastUpdated, if a comment is the source. */
  sourceAt: string | null
  versions: PersonVersion[]
}

/** A membership of a document or user group. */
export interface Stay {
  readonly listing: Looked
  userId: string
  readonly since: Date
  until: Date | null
}

interface Erasure {
  readonly organizationId: string | null
  readonly userId: string
  readonly pseudonym: string
}

type Sighting = Pick<Person, 'organizationId' | 'userId' | 'source' | 'sourceAt'> & {
  readonly name: string | null
  readonly email: string | null
}

/** The state that follows from the responses of all calls. It uses nothing of the program or its tables. */
export class Knowledge {
  readonly #writtenMember: string | null
  readonly scopes = new Map<string, Looked>()
  readonly comments = new Map<string, KnownComment>()
  readonly people = new Map<string, Person>()
  stays: Stay[] = []
  /** The runs that `prune` kept. */
  runs: Date[] = []
  /** The last full run that stopped because the service refused key or token. It checked nothing. */
  refusedAt: Date | null = null
  readonly erasures: Erasure[] = []
  #sightings: Sighting[] = []

  /** @param writtenMember COMMENT_WRITTEN_MEMBER */
  constructor(writtenMember: string | null) {
    this.#writtenMember = writtenMember
  }

  learn(deed: Deed): void {
    switch (deed.kind) {
      case 'catalog':
        return this.#listCatalog(deed)
      case 'run':
        return this.#check(deed)
      case 'prune':
        return this.#prune(deed.before)
      case 'erase':
        return this.#erase(deed)
    }
  }

  #listCatalog({ lines }: Deed & { kind: 'catalog' }): void {
    const listed = new Set<string>()
    for (const line of lines) {
      const { organizationId } = line
      const place = {
        organizationId,
        ...('documentId' in line ? { documentId: line.documentId } : {}),
        ...('annotationId' in line ? { annotationId: line.annotationId } : {}),
        ...('organizationUserGroupId' in line ? { groupId: line.organizationUserGroupId } : {}),
      }
      listed.add(keyOf(place))
      if (this.scopes.has(keyOf(place))) continue
      const unseen = { inCatalog: true, checkedAt: null, failingSince: null, isWhole: false }
      this.scopes.set(keyOf(place), { level: levelOf(place), place, ...unseen })
    }
    for (const [key, scope] of this.scopes) scope.inCatalog = listed.has(key)
  }

  #check(run: Deed & { kind: 'run' }): void {
    this.runs.push(run.at)
    if (run.isStopped) {
      if (Object.keys(run.scope).length === 0) this.refusedAt = run.at
      return
    }
    const calls = new Map<string, Call[]>()
    for (const call of run.calls) {
      const key = keyOf(call.place)
      calls.set(key, [...(calls.get(key) ?? []), call])
    }
    for (const [key, scope] of this.scopes) {
      if (!scope.inCatalog || !isWanted(scope, run.scope)) continue
      // Scopes that a circuit breaker skipped were not checked either.
      this.#lookAt(scope, calls.get(key) ?? [], run.at)
    }
    this.#meet(run.at)
  }

  #lookAt(scope: Looked, calls: readonly Call[], at: Date): void {
    for (const call of calls) {
      if (scope.level === 'annotation') this.#readComments(scope, call, at)
      else if (call.users) this.#readListing(scope, call.users, at)
    }
    if (scope.level === 'annotation') {
      this.#findDeleted(scope, calls, at)
      this.#noteWhole(scope, calls, at)
    }
    const isGood = calls.length > 0 && calls.every(({ comments, users }) => comments ?? users)
    if (!isGood) scope.failingSince ??= at
    else {
      scope.failingSince = null
      if (calls.some(({ commentIds }) => commentIds === null)) scope.checkedAt = at
    }
  }

  #readComments(thread: Looked, { comments }: Call, at: Date): void {
    for (const comment of comments ?? []) if (comment) this.#readComment(thread, comment, at)
  }

  #readComment(thread: Looked, comment: Comment, at: Date): void {
    const place = thread.place as Place
    const key = JSON.stringify([place.organizationId, place.documentId, place.annotationId, comment.commentId]) // prettier-ignore
    const from = comment.from as User
    const erasure = this.erasureOf(place.organizationId, from.userId)
    const author = erasure
      ? { userId: erasure.pseudonym, name: null, email: null }
      : { userId: from.userId, name: from.name ?? null, email: from.email ?? null }
    const said = comment[this.#writtenMember ?? ''] as string | undefined
    const { status, type, lastUpdated } = comment
    const content = { text: erasure ? null : (comment.commentText ?? null), status, type, lastUpdated } // prettier-ignore
    const known = this.comments.get(key)
    if (known === undefined) {
      const first: Version = { number: 1, change: 'added', ...content, from: at, until: null }
      this.comments.set(key, {
        thread,
        place,
        commentId: comment.commentId,
        author,
        versions: [first],
        writtenAt: said ?? lastUpdated,
        isExact: said !== undefined,
        notBefore: thread.isWhole ? thread.checkedAt : null,
        changedAt: at,
      })
    } else {
      const last = known.versions.at(-1) as Version
      const isBack = last.change === 'deleted'
      if (!isBack && JSON.stringify(contentOf(last)) === JSON.stringify(content)) return
      last.until = at
      const change = isBack ? 'restored' : 'edited'
      known.versions.push({ number: last.number + 1, change, ...content, from: at, until: null })
      known.changedAt = at
      known.author = author
    }
    const { organizationId } = place
    this.#sightings.push({ organizationId, ...author, source: 1, sourceAt: lastUpdated })
  }

  /** A comment that a listing lacks is deleted when the service returns null for its ID. */
  #findDeleted(thread: Looked, calls: readonly Call[], at: Date): void {
    for (const { commentIds, comments } of calls) {
      for (const [index, id] of (commentIds ?? []).entries()) {
        if (!comments || comments[index] !== null) continue
        const known = this.#commentsOf(thread).find(({ commentId }) => commentId === id)
        const last = known?.versions.at(-1)
        if (known === undefined || last === undefined || last.change === 'deleted') continue
        last.until = at
        known.versions.push({
          ...last,
          number: last.number + 1,
          change: 'deleted',
          from: at,
          until: null,
        })
        known.changedAt = at
      }
    }
  }

  /** A listing is not complete if it lacks a comment that is not deleted, or if a request by ID found a change. */
  #noteWhole(thread: Looked, calls: readonly Call[], at: Date): void {
    const [first, ...byId] = calls
    if (first?.commentIds === null && first.comments)
      thread.isWhole = byId.every(({ comments }) => comments?.every((comment) => comment === null))
    else if (
      first?.commentIds &&
      this.#commentsOf(thread).some(({ changedAt }) => changedAt === at)
    )
      thread.isWhole = false
  }

  #readListing(listing: Looked, users: readonly User[], at: Date): void {
    const { organizationId } = listing.place
    const ids = new Set<string>()
    const isOwn = listing.level === 'organization'
    for (const user of users) {
      const erasure = this.erasureOf(organizationId, user.userId)
      const userId = erasure?.pseudonym ?? user.userId
      ids.add(userId)
      const name = erasure ? null : (user.name ?? null)
      const email = erasure ? null : (user.email ?? null)
      const source = isOwn ? 3 : 2
      this.#sightings.push({ organizationId, userId, name, email, source, sourceAt: null })
      if (isOwn || this.#staysIn(listing, userId)) continue
      this.stays.push({ listing, userId, since: at, until: null })
    }
    if (isOwn) return this.#unlist(organizationId, ids, at)
    for (const stay of this.stays)
      if (stay.listing === listing && stay.until === null && !ids.has(stay.userId)) stay.until = at
  }

  #staysIn(listing: Looked, userId: string): boolean {
    return this.stays.some(
      (stay) => stay.listing === listing && stay.userId === userId && stay.until === null,
    )
  }

  #unlist(organizationId: string, ids: ReadonlySet<string>, at: Date): void {
    for (const person of this.people.values()) {
      const last = person.versions.at(-1) as PersonVersion
      if (person.organizationId !== organizationId || !last.listed || ids.has(person.userId))
        continue
      person.source = 2
      const { name, email } = last
      this.#newPersonVersion(person, { name, email, listed: false, leftAt: at }, at)
    }
  }

  /** Of the users that one run received, the best source counts, and of comments the newest. */
  #meet(at: Date): void {
    const sorted = this.#sightings.toSorted(
      (a, b) => a.source - b.source || ((a.sourceAt ?? '') < (b.sourceAt ?? '') ? -1 : 1),
    )
    this.#sightings = []
    const best = new Map(
      sorted.map((one) => [JSON.stringify([one.organizationId, one.userId]), one]),
    )
    for (const [key, { organizationId, userId, name, email, source, sourceAt }] of best) {
      const listed = source === 3
      const person = this.people.get(key)
      if (person === undefined) {
        const first = { number: 1, change: 'added', name, email, listed, leftAt: null, from: at, until: null } as const // prettier-ignore
        const seen = { organizationId, userId, firstSeenAt: at, source, sourceAt }
        this.people.set(key, { ...seen, versions: [first] })
        continue
      }
      const isOlder = source === 1 && (sourceAt ?? '') < (person.sourceAt ?? '')
      if (source < person.source || isOlder) continue
      person.source = source
      person.sourceAt = sourceAt
      const last = person.versions.at(-1) as PersonVersion
      if (name === last.name && email === last.email && listed <= last.listed) continue
      const isListed = listed || last.listed
      const leftAt = listed ? null : last.leftAt
      this.#newPersonVersion(person, { name, email, listed: isListed, leftAt }, at)
    }
  }

  #newPersonVersion(
    person: Person,
    now: Pick<PersonVersion, 'name' | 'email' | 'listed' | 'leftAt'>,
    at: Date,
  ): void {
    const last = person.versions.at(-1) as PersonVersion
    last.until = at
    const isBack = now.listed && !last.listed
    const back = last.leftAt === null ? 'listed' : 'restored'
    const change = isBack ? back : now.listed === last.listed ? 'edited' : 'removed'
    person.versions.push({ ...now, change, number: last.number + 1, from: at, until: null })
  }

  #prune(before: Date): void {
    const isKept = ({ until }: { until: Date | null }) => until === null || until >= before
    for (const comment of this.comments.values()) comment.versions = comment.versions.filter(isKept)
    for (const person of this.people.values()) person.versions = person.versions.filter(isKept)
    // The last membership of each user in a listing is kept.
    const last = new Map(
      this.stays.map((stay) => [JSON.stringify([keyOf(stay.listing.place), stay.userId]), stay]),
    )
    const lasts = new Set(last.values())
    this.stays = this.stays.filter((stay) => lasts.has(stay) || isKept(stay))
    this.runs = this.runs.filter((at) => at >= before)
  }

  #erase({ at, organizationId, userId, pseudonym }: Deed & { kind: 'erase' }): void {
    this.erasures.push({ organizationId, userId, pseudonym })
    const isThey = (theirs: string, id: string) =>
      this.erasureOf(theirs, id)?.pseudonym === pseudonym
    for (const comment of this.comments.values()) {
      if (!isThey(comment.place.organizationId, comment.author.userId)) continue
      comment.author = { userId: pseudonym, name: null, email: null }
      for (const version of comment.versions) version.text = null
      comment.changedAt = at
      comment.thread.isWhole = false
    }
    for (const [key, person] of this.people) {
      if (!isThey(person.organizationId, person.userId)) continue
      this.people.delete(key)
      person.userId = pseudonym
      for (const version of person.versions) Object.assign(version, { name: null, email: null })
      this.people.set(JSON.stringify([person.organizationId, pseudonym]), person)
    }
    for (const stay of this.stays)
      if (isThey(stay.listing.place.organizationId, stay.userId)) stay.userId = pseudonym
  }

  /** The erasure of the user with this ID. */
  erasureOf(organizationId: string, userId: string): Erasure | undefined {
    return this.erasures.find(
      (each) => each.userId === userId && [null, organizationId].includes(each.organizationId),
    )
  }

  #commentsOf(thread: Looked): KnownComment[] {
    return [...this.comments.values()].filter((comment) => comment.thread === thread)
  }
}

function contentOf({ text, status, type, lastUpdated }: Version) {
  return { text, status, type, lastUpdated }
}

function levelOf(place: Listing & Partial<Place>): Looked['level'] {
  if (place.annotationId !== undefined) return 'annotation'
  if (place.documentId !== undefined) return 'document'
  return place.groupId === undefined ? 'organization' : 'user group'
}

/** Whether a partial run checks the scope. */
function isWanted({ level, place }: Looked, scope: (Deed & { kind: 'run' })['scope']): boolean {
  const { organizationIds, documentId, annotationId, organizationUserGroupIds, operations } = scope
  const operation = level === 'annotation' ? 'comments' : 'users'
  if (operations && !operations.includes(operation)) return false
  if (organizationIds && !organizationIds.includes(place.organizationId)) return false
  if (organizationUserGroupIds) return organizationUserGroupIds.includes(place.groupId ?? '')
  if (annotationId !== undefined && place.annotationId !== annotationId) return false
  if (documentId !== undefined && place.documentId !== documentId) return false
  return annotationId === undefined || level === 'annotation'
}
