import { keyOf } from './log.ts'
import type {
  Knowledge,
  KnownComment,
  Looked,
  Person,
  PersonVersion,
  Version,
} from './knowledge.ts'

/** What a question is asked of: what looks could show, and when it is asked. */
export interface Asked {
  readonly known: Knowledge
  readonly now: Date
  /** REPORT_TZ. */
  readonly zone: string
}

/** Values in the order of the statement's columns. */
export type Row = readonly (string | number | boolean | Date | null)[]

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PROMISE_MS = 26 * HOUR_MS

/** Whether what is known of a scope may be out of date. */
export function isStale({ known, now }: Asked, { checkedAt, failingSince }: Looked): boolean {
  if (failingSince !== null || checkedAt === null) return true
  if (known.refusedAt !== null && checkedAt < known.refusedAt) return true
  return now.getTime() - checkedAt.getTime() > PROMISE_MS
}

export function everyComment({ known }: Asked): KnownComment[] {
  return [...known.comments.values()]
}

export function live(asked: Asked): KnownComment[] {
  return everyComment(asked).filter((comment) => !isDeleted(comment))
}

export function current({ versions }: KnownComment): Version {
  return versions.at(-1) as Version
}

export function isDeleted(comment: KnownComment): boolean {
  return current(comment).change === 'deleted'
}

export function organizationOf({ place }: KnownComment): string {
  return place.organizationId
}

export function authorOf({ author }: KnownComment): string {
  return author.userId
}

/** Every thread that was ever in the catalog. */
export function threads(asked: Asked) {
  return [...asked.known.scopes.values()]
    .filter(({ level }) => level === 'annotation')
    .map((scope) => {
      const comments = live(asked)
        .filter(({ thread }) => thread === scope)
        .sort((a, b) => compare(a.writtenAt, b.writtenAt) || a.commentId - b.commentId)
      const [first] = comments
      const answer = comments.find((comment) => first && authorOf(comment) !== authorOf(first))
      const [firstAt, answerAt] = [first?.writtenAt ?? null, answer?.writtenAt ?? null]
      const lastAt = comments.at(-1)?.writtenAt ?? null
      const hoursToAnswer =
        firstAt === null || answerAt === null ? null : hoursBetween(firstAt, answerAt)
      return { scope, place: scope.place, comments, firstAt, lastAt, answerAt, hoursToAnswer }
    })
}

export function hoursBetween(from: string, to: string | Date): number {
  return inHours(new Date(to).getTime() - Date.parse(from))
}

export function inHours(ms: number): number {
  return rounded(ms / HOUR_MS, 2)
}

/** Every document that was ever in the catalog. */
export function documents(asked: Asked) {
  return [...asked.known.scopes.values()]
    .filter(({ level }) => level === 'document')
    .map((scope) => {
      const { place } = scope
      const comments = live(asked).filter(
        (one) =>
          one.place.documentId === place.documentId && organizationOf(one) === place.organizationId,
      )
      const members = asked.known.stays.filter(
        ({ listing, until }) => listing === scope && until === null,
      )
      const writing = members.filter(({ userId }) =>
        comments.some((comment) => authorOf(comment) === userId),
      )
      const annotations = [...asked.known.scopes.values()].filter(
        ({ level, place: other }) =>
          level === 'annotation' &&
          other.organizationId === place.organizationId &&
          other.documentId === place.documentId,
      )
      return { scope, place, annotations, comments, members, writing }
    })
}

/** Everybody who was seen, with where they are now. */
export function people({ known }: Asked) {
  return [...known.people.values()].map((person) => {
    const stays = known.stays.filter(
      ({ listing, userId, until }) =>
        until === null &&
        userId === person.userId &&
        listing.place.organizationId === person.organizationId,
    )
    const documents = stays.filter(({ listing }) => listing.level === 'document').length
    const now = person.versions.at(-1) as PersonVersion
    return { person, now, documents, groups: stays.length - documents, stays }
  })
}

export function personOf({ known }: Asked, organizationId: string, userId: string) {
  const person: Person | undefined = known.people.get(JSON.stringify([organizationId, userId]))
  return person?.versions.at(-1)
}

export function nameOf(asked: Asked, organizationId: string, userId: string): string | null {
  return personOf(asked, organizationId, userId)?.name ?? null
}

/** The changes of a status that looks found, whose version before is kept. */
export function transitions(asked: Asked) {
  return everyComment(asked).flatMap((comment) =>
    comment.versions.flatMap((after, index) => {
      const before = comment.versions[index - 1]
      if (before === undefined || after.change === 'deleted') return []
      return before.status === after.status ? [] : [{ comment, before, after }]
    }),
  )
}

/** By level: scopes in the catalog, and how many are fresh, stale, never checked, failing, held and refused. */
export function covered(asked: Asked, organizationId?: string): Row[] {
  const isAsked = (scope: { place: { organizationId: string } }) =>
    [undefined, scope.place.organizationId].includes(organizationId)
  const scopes = [...asked.known.scopes.values()].filter(isAsked)
  const listed = people(asked).map(({ person, now }) => {
    const own = asked.known.scopes.get(keyOf({ organizationId: person.organizationId })) as Looked
    return { ...own, level: 'user', inCatalog: own.inCatalog && now.listed, failingSince: null, isStale: isStale(asked, own) } // prettier-ignore
  })
  const all = [
    ...scopes.map((scope) => ({ ...scope, isStale: isStale(asked, scope) })),
    ...listed.filter(isAsked),
  ]
  return groups(all, ({ level }) => level).map(([level, each]) => {
    const own = each.filter(({ inCatalog }) => inCatalog)
    const fresh = own.filter((scope) => !scope.isStale).length
    const never = own.filter(({ checkedAt }) => checkedAt === null).length
    const failing = own.filter(({ failingSince }) => failingSince !== null).length
    return [level, own.length, fresh, own.length - fresh - never, never, failing, 0, 0]
  })
}

/** Each status and type of the versions that are kept, of one organization or of all. */
export function values(asked: Asked, organizationId?: string) {
  const own = everyComment(asked).filter((comment) =>
    [undefined, organizationOf(comment)].includes(organizationId),
  )
  const seen = own.flatMap((comment) =>
    comment.versions.flatMap((version) =>
      (['status', 'type'] as const).map((field) => ({
        field,
        value: version[field],
        from: version.from,
        isLive: version === current(comment) && !isDeleted(comment),
      })),
    ),
  )
  return groups(seen, ({ field, value }) => [field, value]).map(([[field, value], each]) => {
    const comments = each.filter(({ isLive }) => isLive).length
    const firstSeen = earliest(each.map(({ from }) => from)) as Date
    return { field, value, comments, versions: each.length, firstSeen }
  })
}

/** The members of a list by what they have in common. */
export function groups<T, const Key extends Row | string | number>(
  list: readonly T[],
  keyOf: (one: T) => Key,
): [Key, T[]][] {
  const found = new Map<string, [Key, T[]]>()
  for (const one of list) {
    const key = keyOf(one)
    const text = JSON.stringify(key)
    const group = found.get(text) ?? [key, []]
    found.set(text, group)
    group[1].push(one)
  }
  return [...found.values()]
}

/** By columns, `-` for the highest first. Texts as their bytes: the databases of worlds sort so. */
export function sorted(rows: readonly Row[], by: readonly string[]): Row[] {
  return rows.toSorted((a, b) => {
    for (const each of by) {
      const column = Math.abs(Number(each))
      const order = compare(a[column] ?? null, b[column] ?? null)
      if (order !== 0) return each.startsWith('-') ? -order : order
    }
    return 0
  })
}

export function compare(a: Row[number], b: Row[number]): number {
  if (typeof a === 'string' && typeof b === 'string')
    return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return Number(a) - Number(b)
}

export function distinct(list: readonly unknown[]): number {
  return new Set(list).size
}

export function earliest(times: readonly (Date | null)[]): Date | null {
  const ms = times.flatMap((time) => time?.getTime() ?? [])
  return ms.length === 0 ? null : new Date(Math.min(...ms))
}

export function median(list: readonly number[]): number {
  const inOrder = list.toSorted((a, b) => a - b)
  const half = (inOrder.length - 1) / 2
  return ((inOrder[Math.floor(half)] ?? 0) + (inOrder[Math.ceil(half)] ?? 0)) / 2
}

/** Half goes up, though a binary fraction be a little less than half. */
export function rounded(value: number, digits: number): number {
  const scaled = Number((value * 10 ** digits).toPrecision(13))
  return Math.round(scaled) / 10 ** digits
}

export function date(time: string | null): Date | null {
  return time === null ? null : new Date(time)
}

export function daysAgo({ now }: Asked, days: number): string {
  return new Date(now.getTime() - days * DAY_MS).toISOString().slice(0, 10)
}

export function dayOf({ zone }: Asked, { writtenAt }: KnownComment): string {
  return dayIn(zone, writtenAt)
}

export function dayIn(zone: string, time: string): string {
  return inZone(zone, time).slice(0, 10)
}

export function hourIn(zone: string, time: string): number {
  return Number(inZone(zone, time).slice(12, 14))
}

export function mondayOf(day: string): string {
  const at = new Date(`${day}T00:00:00Z`)
  at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7))
  return at.toISOString().slice(0, 10)
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** What calendars and clocks show there: `2026-03-29, 03:00:00`. */
export function inZone(zone: string, time: string): string {
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
      hourCycle: 'h23',
    })
    formats.set(zone, format)
  }
  return format.format(new Date(time))
}
