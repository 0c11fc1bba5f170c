import type { Place } from '../../src/demo/layout.ts'
import { canonical, readJson } from '../fuzz/exact-json.ts'
import type { Json } from '../fuzz/exact-json.ts'
import { Received, contentOf } from '../fuzz/received-model.ts'
import type { Reject } from '../fuzz/received-model.ts'
import { commentOf, userOf } from '../fuzz/record-model.ts'
import type { ModelComment, ModelUser } from '../fuzz/record-model.ts'
import type { ServiceResponse } from '../fuzz/response-model.ts'
import { keyOf } from './log.ts'
import type { Call, Deed, Listing } from './log.ts'

/** A scope: the comments of an annotation, or a listing of users. */
export interface Looked {
  readonly level: 'organization' | 'user group' | 'document' | 'annotation'
  readonly place: Listing & Partial<Place>
  inCatalog: boolean
  /** Start of the last successful check of the whole scope; not of one whose removals are held. */
  checkedAt: Date | null
  /** The first failed check since the last successful one. */
  failingSince: Date | null
  /** The content of the last listing, if that was complete and no later check found more. */
  known: string | null
  /** Most members after any response: no world is so large that a loss within seven days depends on an older one. */
  most: number
  /** Missing members whose removal is held, and those who are missing because of a loss. */
  held: readonly string[]
  disputed: readonly string[]
}

/** What became of a scope in one run. */
export interface Outcome extends Pick<
  Received<never>,
  'rejects' | 'rejectedRecords' | 'isLacking'
> {
  readonly status: 'good' | 'failed' | 'held'
  readonly failure: Pick<Failed, 'httpStatus' | 'errorStatus'> | null
  readonly written: number
  /** Comments that were deleted, or users who left. */
  readonly removed: number
}

type Failed = Extract<ServiceResponse, { kind: 'failed' }>

/** Whether a record is in the tables: of records with one ID, and of names from equally good sources, any may be stored. */
export type IsStored = (
  place: Listing & Partial<Place>,
  record: ModelComment | ModelUser,
) => boolean

export interface Version extends Pick<ModelComment, 'text' | 'html' | 'status' | 'type'> {
  readonly number: number
  readonly change: 'added' | 'edited' | 'deleted' | 'restored'
  text: string | null
  html: string | null
  /** In ISO 8601. */
  readonly lastUpdated: string | null
  readonly from: Date
  until: Date | null
}

export interface KnownComment {
  readonly thread: Looked
  readonly place: Place
  readonly commentId: number
  /** As last received. */
  shown: ModelComment
  /** The versions that `prune` kept, the current one last. */
  versions: Version[]
  /** From COMMENT_WRITTEN_MEMBER, or else lastUpdated of the first received version. */
  readonly writtenAt: string | null
  readonly isExact: boolean
  /** The last successful check before the first one that returned it, unless that check may have missed it. */
  readonly notBefore: Date | null
  readonly firstSeenAt: Date
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
  sourceAt: number | null
  raw: string
  versions: PersonVersion[]
}

/** A membership of a document or user group. */
export interface Stay {
  readonly listing: Looked
  userId: string
  readonly firstSeenAt: Date
  readonly since: Date
  until: Date | null
}

interface Erasure {
  readonly organizationId: string | null
  readonly userId: string
  readonly pseudonym: string
}

type Sighting = Pick<Person, 'organizationId' | 'source' | 'sourceAt'> & {
  /** Several if the response contains the user more than once. */
  readonly users: readonly ModelUser[]
}

const GOOD = {
  status: 'good',
  failure: null,
  rejects: [] as Reject[],
  rejectedRecords: 0,
  isLacking: false,
  written: 0,
  removed: 0,
} as const
/** `SYNC_SHRINK_LIMIT`: the removal of a larger share of a listing is held. */
const SHRINK_LIMIT = 0.5
const SMALL_LOSS = 10

/** The state that follows from the responses of all calls. It uses nothing of the program, and its tables only for `isStored`. */
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
  /** The scopes of the last run by key, and the calls that no rule explains. */
  outcomes = new Map<string, Outcome>()
  readonly complaints: { readonly key: string; readonly says: string }[] = []
  #sightings: Sighting[] = []
  #isStored: IsStored = () => true

  /** @param writtenMember COMMENT_WRITTEN_MEMBER */
  constructor(writtenMember: string | null) {
    this.#writtenMember = writtenMember
  }

  /** @param isStored decides what no rule decides */
  learn(deed: Deed, isStored: IsStored = () => true): void {
    this.#isStored = isStored
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
      this.scopes.set(keyOf(place), {
        level: levelOf(place),
        place,
        inCatalog: true,
        checkedAt: null,
        failingSince: null,
        known: null,
        most: 0,
        held: [],
        disputed: [],
      })
    }
    for (const [key, scope] of this.scopes) scope.inCatalog = listed.has(key)
  }

  #check(run: Deed & { kind: 'run' }): void {
    this.runs.push(run.at)
    this.outcomes = new Map()
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
    const read = scope.level === 'annotation' ? this.#readComments : this.#readListing
    // A circuit breaker skipped a scope without calls.
    const outcome = calls.length === 0 ? failedAs(SKIPPED) : read.call(this, scope, calls, at)
    this.outcomes.set(keyOf(scope.place), outcome)
    if (outcome.failure !== null) scope.failingSince ??= at
    else {
      scope.failingSince = null
      const isListing = calls.some(({ commentIds }) => commentIds === null)
      if (isListing && outcome.status === 'good') scope.checkedAt = at
    }
  }

  #complain({ place }: Looked, says: string): void {
    this.complaints.push({ key: keyOf(place), says })
  }

  #readComments(thread: Looked, calls: readonly Call[], at: Date): Outcome {
    const read = new Received(commentOf, ({ commentId }) => commentId)
    const [first, ...others] = calls as [Call, ...Call[]]
    const isListing = first.commentIds === null
    const byId = isListing ? others : calls
    if (isListing) {
      const { response } = first
      const failure = response.kind === 'failed' ? response : read.addListing(response)
      const isKnown = read.isClean && read.contentKey() === thread.known
      if (byId.length > 0 && (failure !== null || isKnown))
        this.#complain(thread, `requested by ID after ${failure?.errorStatus ?? 'a known listing'}`)
      if (failure !== null) return failedAs(failure)
      if (isKnown) return GOOD
    }
    const content = read.contentKey()
    for (const { commentIds, response } of byId) read.addById(commentIds ?? [], response)
    if (isListing) this.#checkRequested(thread, read, byId)
    let [written, removed] = [0, 0]
    for (const same of read.records.values())
      if (this.#storeComment(thread, this.#pick(thread.place, same), at)) written += 1
    for (const id of read.gone)
      if (!read.records.has(id) && this.#deleteComment(thread, id, at)) removed += 1
    if (isListing) thread.known = read.isClean ? content : null
    else if (written + removed > 0) thread.known = null
    return { ...outcomeOf(read), written, removed }
  }

  /** Comments that the listing lacks are requested by ID. What a circuit breaker skipped is neither confirmed nor deleted. */
  #checkRequested(thread: Looked, read: Received<ModelComment>, byId: readonly Call[]): void {
    const missing = this.#commentsOf(thread)
      .filter(({ commentId, versions }) => !isGone(versions) && !read.listed.has(commentId))
      .map(({ commentId }) => commentId)
      .sort((a, b) => a - b)
    const requested = byId.flatMap(({ commentIds }) => commentIds ?? [])
    if (requested.length < missing.length) read.incomplete = SKIPPED
    if (requested.join() !== missing.filter((id) => requested.includes(id)).join())
      this.#complain(thread, `requested ${requested.join()} instead of ${missing.join()}`)
  }

  #pick<T extends ModelComment | ModelUser>(place: Looked['place'], same: readonly T[]): T {
    return same.find((record) => this.#isStored(place, record)) ?? (same[0] as T)
  }

  /** @returns whether it was written */
  #storeComment(thread: Looked, received: ModelComment, at: Date): boolean {
    const place = thread.place as Place
    const { organizationId } = place
    const key = JSON.stringify([keyOf(place), received.commentId])
    const member = this.#writtenMember
    const said =
      member === null ? undefined : (JSON.parse(received.raw) as Record<string, string>)[member]
    const shown = this.#redacted(organizationId, received)
    const { text, html, status, type } = shown
    const lastUpdated =
      shown.lastUpdated === null ? null : new Date(shown.lastUpdated).toISOString()
    const version = { text, html, status, type, lastUpdated, from: at, until: null }
    const known = this.comments.get(key)
    if (known === undefined) {
      this.comments.set(key, {
        thread,
        place,
        commentId: shown.commentId,
        shown,
        versions: [{ number: 1, change: 'added', ...version }],
        writtenAt: said ?? lastUpdated,
        isExact: said !== undefined,
        notBefore: thread.known === null ? null : thread.checkedAt,
        firstSeenAt: at,
        changedAt: at,
      })
    } else {
      const isBack = isGone(known.versions)
      if (!isBack && contentOf(known.shown) === contentOf(shown)) return false
      const last = known.versions.at(-1) as Version
      if (isBack || versionOf(last) !== versionOf(version)) {
        last.until = at
        const change = isBack ? 'restored' : 'edited'
        known.versions.push({ number: last.number + 1, change, ...version })
      }
      known.changedAt = at
      known.shown = shown
    }
    if (shown.author !== null) {
      const users = [shown.author]
      this.#sightings.push({ organizationId, users, source: 1, sourceAt: shown.lastUpdated })
    }
    return true
  }

  /** @returns whether it was there */
  #deleteComment(thread: Looked, id: number, at: Date): boolean {
    const known = this.comments.get(JSON.stringify([keyOf(thread.place), id]))
    if (known === undefined || isGone(known.versions)) return false
    const last = known.versions.at(-1) as Version
    last.until = at
    known.versions.push({
      ...last,
      number: last.number + 1,
      change: 'deleted',
      from: at,
      until: null,
    })
    known.changedAt = at
    return true
  }

  #readListing(listing: Looked, calls: readonly Call[], at: Date): Outcome {
    const [{ response }] = calls as [Call]
    if (calls.length > 1) this.#complain(listing, `called ${calls.length} times`)
    if (response.kind === 'failed') return failedAs(response)
    const read = new Received(userOf, ({ userId }) => userId)
    const failure = read.addListing(response)
    if (failure !== null) return failedAs(failure)
    const content = read.contentKey()
    if (read.isClean && content === listing.known) return GOOD
    const { organizationId } = listing.place
    const isOwn = listing.level === 'organization'
    const ids = new Set<string>()
    for (const same of read.records.values()) {
      const users = same.map((user) => this.#redactedUser(organizationId, user))
      ids.add((users[0] as ModelUser).userId)
      this.#sightings.push({ organizationId, users, source: isOwn ? 3 : 2, sourceAt: null })
    }
    const members = this.#membersOf(listing)
    const missing = members.filter((id) => !ids.has(id))
    const joined = [...ids].filter((id) => !members.includes(id))
    const isLoss = isLossOf(listing, members.length, joined.length, missing)
    const isHeld = missing.length > 0 && (isLoss || response.paged || read.nameless > 0)
    const left = isHeld ? [] : missing
    if (isOwn) this.#unlist(organizationId, left, at)
    else {
      for (const stay of this.stays)
        if (stay.listing === listing && stay.until === null && left.includes(stay.userId))
          stay.until = at
      for (const userId of joined) {
        const firstSeenAt = this.#firstStay(listing, userId)?.firstSeenAt ?? at
        this.stays.push({ listing, userId, firstSeenAt, since: at, until: null })
      }
    }
    listing.most = Math.max(listing.most, members.length + joined.length - left.length)
    listing.held = isHeld ? missing : []
    listing.disputed = isLoss ? missing : []
    listing.known = read.isClean && !isHeld ? content : null
    return { ...outcomeOf(read), ...(isHeld ? { status: 'held' } : {}), removed: left.length }
  }

  #membersOf(listing: Looked): string[] {
    const { organizationId } = listing.place
    if (listing.level !== 'organization')
      return this.stays
        .filter((stay) => stay.listing === listing && stay.until === null)
        .map(({ userId }) => userId)
    return [...this.people.values()]
      .filter(
        (person) => person.organizationId === organizationId && person.versions.at(-1)?.listed,
      )
      .map(({ userId }) => userId)
  }

  #firstStay(listing: Looked, id: string): Stay | undefined {
    return this.stays.find((stay) => stay.listing === listing && stay.userId === id)
  }

  #unlist(organizationId: string, ids: readonly string[], at: Date): void {
    for (const id of ids) {
      const person = this.people.get(JSON.stringify([organizationId, id])) as Person
      person.source = 2
      const { name, email } = person.versions.at(-1) as PersonVersion
      this.#newPersonVersion(person, { name, email, listed: false, leftAt: at }, at)
    }
  }

  /** Of the users that one run received, the best source counts, and of comments the newest. */
  #meet(at: Date): void {
    const time = ({ sourceAt }: Sighting) => sourceAt ?? -Infinity
    const byUser = new Map<string, Sighting[]>()
    for (const sighting of this.#sightings) {
      const key = JSON.stringify([sighting.organizationId, sighting.users[0]?.userId])
      byUser.set(key, [...(byUser.get(key) ?? []), sighting])
    }
    this.#sightings = []
    for (const [key, sightings] of byUser) {
      const source = Math.max(...sightings.map((each) => each.source)) as Person['source']
      const latest = Math.max(...sightings.filter((each) => each.source === source).map(time))
      const best = sightings.filter((each) => each.source === source && time(each) === latest)
      const [{ organizationId, sourceAt }] = best as [Sighting]
      const person = this.people.get(key)
      if (
        person &&
        (source < person.source || (source === 1 && latest < (person.sourceAt ?? -Infinity)))
      )
        continue
      const last = person?.versions.at(-1)
      const same = best.flatMap(({ users }) => users)
      // The response of the organization without them may have come later than another one with them.
      if (person && last && last.leftAt === at) same.push({ ...person, ...last })
      const { userId, name, email, raw } = this.#pick({ organizationId }, same)
      const listed = source === 3
      if (person === undefined || last === undefined) {
        const first = { number: 1, change: 'added', name, email, listed, leftAt: null, from: at, until: null } as const // prettier-ignore
        const seen = { organizationId, userId, raw, firstSeenAt: at, source, sourceAt }
        this.people.set(key, { ...seen, versions: [first] })
        continue
      }
      Object.assign(person, { source, sourceAt, raw })
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
      const { organizationId: theirs } = comment.place
      if (!isThey(theirs, comment.shown.authorUserId ?? '')) continue
      comment.shown = this.#redacted(theirs, comment.shown)
      for (const version of comment.versions) Object.assign(version, { text: null, html: null })
      comment.changedAt = at
      comment.thread.known = null
    }
    for (const [key, person] of this.people) {
      if (!isThey(person.organizationId, person.userId)) continue
      this.people.delete(key)
      Object.assign(person, { userId: pseudonym, raw: canonicalOf({ userId: pseudonym }) })
      for (const version of person.versions) Object.assign(version, { name: null, email: null })
      this.people.set(JSON.stringify([person.organizationId, pseudonym]), person)
    }
    for (const stay of this.stays)
      if (isThey(stay.listing.place.organizationId, stay.userId)) stay.userId = pseudonym
  }

  #redacted(organizationId: string, comment: ModelComment): ModelComment {
    const erasure = this.erasureOf(organizationId, comment.authorUserId ?? '')
    if (erasure === undefined) return comment
    const { commentId, lastUpdated, status, type } = JSON.parse(comment.raw) as Record<string, unknown> // prettier-ignore
    const author = comment.author && this.#redactedUser(organizationId, comment.author)
    return {
      ...comment,
      text: null,
      html: null,
      authorUserId: erasure.pseudonym,
      authorName: null,
      authorEmail: null,
      raw: canonicalOf({
        commentId,
        lastUpdated,
        status,
        type,
        from: { userId: erasure.pseudonym },
      }),
      author,
    }
  }

  #redactedUser(organizationId: string, user: ModelUser): ModelUser {
    const userId = this.erasureOf(organizationId, user.userId)?.pseudonym
    if (userId === undefined) return user
    return { userId, name: null, email: null, raw: canonicalOf({ userId }) }
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

const SKIPPED = { kind: 'failed', httpStatus: null, errorStatus: 'breaker_open' } as const

function failedAs({ httpStatus, errorStatus }: Failed): Outcome {
  return { ...GOOD, status: 'failed', failure: { httpStatus, errorStatus } }
}

function outcomeOf(read: Received<ModelComment> | Received<ModelUser>): Outcome {
  const { incomplete, rejects, rejectedRecords, isLacking } = read
  const outcome = incomplete === null ? GOOD : failedAs(incomplete)
  return { ...outcome, rejects, rejectedRecords, isLacking }
}

/** Whether a listing lacks so many users that the removal is held. */
function isLossOf(
  { most, disputed }: Looked,
  before: number,
  joined: number,
  missing: readonly string[],
): boolean {
  const isLarge = (lost: number, of: number) => lost > SMALL_LOSS && lost > of * SHRINK_LIMIT
  if (missing.length === 0) return false
  return (
    missing.length === before ||
    isLarge(missing.length, before) ||
    isLarge(most - (before + joined - missing.length), most) ||
    disputed.some((id) => missing.includes(id))
  )
}

function isGone(versions: readonly Version[]): boolean {
  return versions.at(-1)?.change === 'deleted'
}

/** A change of only the author or an undocumented field creates no version. */
function versionOf({ text, html, status, type, lastUpdated }: Omit<Version, 'number' | 'change'>) {
  return JSON.stringify([text, html, status, type, lastUpdated])
}

function canonicalOf(value: object): string {
  return canonical(readJson(JSON.stringify(value)) as Json)
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
