import type { Comment } from '../../src/demo/comments.ts'
import { isStale } from './counting.ts'
import type { Asked } from './counting.ts'
import { keyOf } from './log.ts'
import type { TrueEvent } from './log.ts'

/** What truly is, by what truly happened: live comments and people of each thread and listing, and when each comment was written. */
class Truth {
  readonly comments = new Map<string, Map<number, Comment>>()
  readonly listings = new Map<string, Map<string, string | null>>()
  readonly writtenAt = new Map<number, string>()

  constructor(events: readonly TrueEvent[], until: Date) {
    for (const event of events) if (Date.parse(event.at) <= until.getTime()) this.#take(event)
  }

  #take(event: TrueEvent): void {
    switch (event.kind) {
      case 'in':
        return void of(this.listings, keyOf(placeOf(event))).set(event.user.userId, event.user.name ?? null) // prettier-ignore
      case 'out':
        return void of(this.listings, keyOf(placeOf(event))).delete(event.userId)
      case 'deleted':
        return void of(this.comments, keyOf(event.place)).delete(event.commentId)
      default: {
        const { place, comment, at } = event
        of(this.comments, keyOf(place)).set(comment.commentId, comment)
        if (event.kind === 'written' && !this.writtenAt.has(comment.commentId))
          this.writtenAt.set(comment.commentId, at)
      }
    }
  }
}

/**
 * Compares what looks showed with what truly is, right after a run of everything: what differs must say that it may be out of
 * date, and a time of writing that is called exact must be.
 * @returns what does not
 */
export function untold(asked: Asked, events: readonly TrueEvent[]): string[] {
  const { known, now } = asked
  const truth = new Truth(events, now)
  const told: string[] = []
  const pseudonyms = new Set(known.erasures.map(({ pseudonym }) => pseudonym))
  for (const [key, scope] of known.scopes) {
    if (!scope.inCatalog || isStale(asked, scope)) continue
    const shown: unknown[] = []
    const real: unknown[] = []
    if (scope.level === 'annotation') {
      for (const { thread, commentId, versions } of known.comments.values()) {
        const last = versions.at(-1)
        if (thread === scope && last && last.change !== 'deleted')
          shown.push([commentId, last.status, last.type, last.lastUpdated])
      }
      for (const { commentId, status, type, lastUpdated } of of(truth.comments, key).values())
        real.push([commentId, status, type, lastUpdated])
    } else {
      const { organizationId } = scope.place
      const people = [...known.people.values()].filter((person) => person.organizationId === organizationId) // prettier-ignore
      const isIn = (userId: string) =>
        scope.level === 'organization'
          ? people.some((person) => person.userId === userId && person.versions.at(-1)?.listed)
          : known.stays.some((stay) => stay.listing === scope && stay.userId === userId && stay.until === null) // prettier-ignore
      for (const { userId, versions } of people)
        if (isIn(userId) && !pseudonyms.has(userId))
          shown.push(scope.level === 'organization' ? [userId, versions.at(-1)?.name] : userId)
      for (const [userId, name] of of(truth.listings, key))
        if (known.erasureOf(organizationId, userId) === undefined)
          real.push(scope.level === 'organization' ? [userId, name] : userId)
    }
    const [a, b] = [shown, real].map((list) => JSON.stringify(list.map((one) => JSON.stringify(one)).sort())) // prettier-ignore
    if (a !== b) told.push(`${key} shows ${a} and says nothing of being stale; true is ${b}`)
  }
  for (const { commentId, isExact, writtenAt } of known.comments.values())
    if (isExact && truth.writtenAt.get(commentId) !== writtenAt)
      told.push(`comment ${commentId} was not written at ${writtenAt}, which is called exact`)
  return told
}

function placeOf(event: TrueEvent & { kind: 'in' | 'out' }) {
  const { organizationId, documentId, groupId } = event
  return {
    organizationId,
    ...(documentId === undefined ? {} : { documentId }),
    ...(groupId === undefined ? {} : { groupId }),
  }
}

function of<Key, Value>(map: Map<string, Map<Key, Value>>, key: string): Map<Key, Value> {
  const found = map.get(key) ?? new Map<Key, Value>()
  map.set(key, found)
  return found
}
