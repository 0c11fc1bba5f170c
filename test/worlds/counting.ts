import { keyOf } from './log.ts'
import type { Knowledge, KnownComment, Looked, PersonVersion, Version } from './knowledge.ts'

/** The state that follows from the responses, and the time at which it is read. */
export interface Asked {
  readonly known: Knowledge
  readonly now: Date
  /** REPORT_TZ. */
  readonly zone: string
}

/** Values in the order of the columns. */
export type Row = readonly (string | number | boolean | Date | null)[]

/** Columns of a view as they are selected, and their values in each of its rows. */
export interface View {
  readonly columns: string
  readonly rows: (asked: Asked) => Row[]
}

/** The columns of {@link marksOf}. */
export const MARKS = 'checked_at, is_stale, in_catalog'

const HOUR_MS = 3_600_000
const PROMISE_MS = 26 * HOUR_MS

/** Whether the data of a scope may be out of date. */
export function isStale({ known, now }: Asked, { checkedAt, failingSince }: Looked): boolean {
  if (failingSince !== null || checkedAt === null) return true
  if (known.refusedAt !== null && checkedAt < known.refusedAt) return true
  return now.getTime() - checkedAt.getTime() > PROMISE_MS
}

/** When a scope was last checked well, whether it may be out of date, and whether the catalog lists it. */
export function marksOf(asked: Asked, scope: Looked): Row {
  return [scope.checkedAt, isStale(asked, scope), scope.inCatalog]
}

/** The marks of a total over an organization's annotations, and how many of them may be out of date. */
export function totalMarks(asked: Asked, organizationId: string): Row {
  const all = [...asked.known.scopes.values()].filter(
    ({ level, place, inCatalog }) =>
      level === 'annotation' && inCatalog && place.organizationId === organizationId,
  )
  const stale = all.filter((scope) => isStale(asked, scope)).length
  const { inCatalog } = asked.known.scopes.get(keyOf({ organizationId })) as Looked
  return [oldest(all), stale > 0, inCatalog, stale]
}

/** The oldest of the last good checks; null where one was never checked. */
export function oldest(scopes: readonly Looked[]): Date | null {
  const times = scopes.map(({ checkedAt }) => checkedAt)
  return times.includes(null) ? null : earliest(times)
}

/** How many comments are in threads that left the catalog. */
export function unchecked(comments: readonly KnownComment[]): number {
  return comments.filter(({ thread }) => !thread.inCatalog).length
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

export function authorOf({ shown }: KnownComment): string {
  return shown.authorUserId as string
}

/** A time as the tables have it. */
export function dateOf(time: string | null): Date | null {
  return time === null ? null : new Date(time)
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

export function hoursBetween(from: string | null, to: string | Date | null): number {
  return inHours(new Date(to as string).getTime() - Date.parse(from as string))
}

/** Rounds half up, even if the binary fraction is slightly less than half. */
export function inHours(ms: number): number {
  return Math.round(Number(((ms / HOUR_MS) * 100).toPrecision(13))) / 100
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

/** Every user who was seen, with the own listing of the organization and the current memberships. */
export function people({ known }: Asked) {
  return [...known.people.values()].map((person) => {
    const stays = known.stays.filter(
      ({ listing, userId, until }) =>
        until === null &&
        userId === person.userId &&
        listing.place.organizationId === person.organizationId,
    )
    const now = person.versions.at(-1) as PersonVersion
    const { organizationId } = person
    const organization = known.scopes.get(keyOf({ organizationId })) as Looked
    const own = { ...organization, inCatalog: organization.inCatalog && now.listed }
    return { person, now, own, stays }
  })
}

export function nameOf(asked: Asked, organizationId: string, userId: string): string | null {
  return personOf(asked, organizationId, userId)?.name ?? null
}

/** The name and the address of a comment's author now, the address as received with the comment if the user has none. */
export function authorNow(asked: Asked, comment: KnownComment): [string | null, string | null] {
  const now = personOf(asked, organizationOf(comment), authorOf(comment))
  return [now?.name ?? null, now?.email ?? comment.shown.authorEmail]
}

function personOf({ known }: Asked, organizationId: string, userId: string) {
  return known.people.get(JSON.stringify([organizationId, userId]))?.versions.at(-1)
}

/** The changes of a status whose previous version is kept. */
export function transitions(asked: Asked) {
  return everyComment(asked).flatMap((comment) =>
    comment.versions.flatMap((after, index) => {
      const before = comment.versions[index - 1]
      if (before === undefined || after.change === 'deleted') return []
      return before.status === after.status ? [] : [{ comment, before, after }]
    }),
  )
}

/** By level: scopes in the catalog, and how many are fresh, stale, never checked, failing, held, refused and out of it. */
export function covered(asked: Asked, organizationId: string): Row[] {
  const isAsked = (scope: { place: { organizationId: string } }) =>
    scope.place.organizationId === organizationId
  const scopes = [...asked.known.scopes.values()].filter(isAsked)
  const listed = people(asked).map(({ own }) => {
    return { ...own, level: 'user', failingSince: null, isStale: isStale(asked, own) }
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
    const stale = own.length - fresh - never
    return [level, own.length, fresh, stale, never, failing, 0, 0, each.length - own.length]
  })
}

/** Each status and type of the versions of an organization that are kept. */
export function values(asked: Asked, organizationId: string) {
  const own = everyComment(asked).filter((comment) => organizationOf(comment) === organizationId)
  const seen = own.flatMap((comment) =>
    comment.versions.flatMap((version) =>
      (['status', 'type'] as const).map((field) => ({
        field,
        value: version[field],
        from: version.from,
        live: version === current(comment) && !isDeleted(comment) ? [comment] : [],
      })),
    ),
  )
  return groups(seen, ({ field, value }) => [field, value]).map(([[field, value], each]) => {
    const comments = each.flatMap((one) => one.live)
    const firstSeen = earliest(each.map(({ from }) => from)) as Date
    return { field, value, comments, versions: each.length, firstSeen }
  })
}

/** The items of a list by key. */
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

/** Texts as their bytes: the databases of worlds sort so. */
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

export function dayOf({ zone }: Asked, { writtenAt }: KnownComment): string {
  return dayIn(zone, writtenAt as string)
}

export function dayIn(zone: string, time: string): string {
  return inZone(zone, time).slice(0, 10)
}

export function mondayOf(day: string): string {
  const at = new Date(`${day}T00:00:00Z`)
  at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7))
  return at.toISOString().slice(0, 10)
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The local time of a zone: `2026-03-29, 03:00:00`. */
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
