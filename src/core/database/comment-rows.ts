import type { CommentColumns } from '../../base/columns.ts'
import type { On, RowOf } from './statement.ts'
import * as definitions from './statements/definitions.ts'

/** A comment with the digest of its columns, by which the next response is compared with it. */
export interface CommentRow extends CommentColumns {
  readonly digest: Buffer
  /** When it was written by its own member, in ISO 8601; null where it has none. */
  readonly writtenAt: string | null
  /** `writtenAt`, else its `lastUpdated`: what this version alone shows. */
  readonly knownWrittenAt: string | null
}

/** Comments of one annotation. */
export interface AnnotationComments {
  readonly organizationKey: number
  readonly annotationKey: number
  /** New comments did not exist at this time; null where that is not known. */
  readonly notBefore: Date | null
  /** When they were seen; the time of their commit when left out. */
  readonly seenAt?: Date | undefined
  readonly comments: readonly CommentRow[]
}

/** UTF-16 units that are sent at a time: each chunk costs a message, and a large response must not be in memory twice. */
const CHUNK_UNITS = 64 * 1024
const JULIAN_DAY_OF_1970 = 2_440_588

/**
 * Rows for sql/queries/comments/copy.sql in the text format of COPY, made while they are sent.
 * @param at when the comments were first seen
 * @param days those of reports; UTC when left out
 */
export function* copyRows(
  annotations: Iterable<AnnotationComments>,
  at: Date,
  days: ZoneDays = utcDays,
): Generator<string> {
  let rows = ''
  for (const { organizationKey, annotationKey, notBefore, seenAt = at, comments } of annotations) {
    const keys = `${organizationKey}\t${annotationKey}\t`
    const seen = seenAt.toISOString()
    const ownColumns = `\t${seen}\t${seen}\t${seen}\t1\tadded\t${notBefore?.toISOString() ?? '\\N'}`
    for (const { commentId, digest, writtenAt, knownWrittenAt, texts } of comments) {
      rows += `${keys}${commentId}${ownColumns}\t\\\\x${digest.toString('hex')}`
      rows += `\t${dayOf(knownWrittenAt, days)}\t${writtenAt ?? '\\N'}`
      for (const text of texts) rows += `\t${fieldOf(text)}`
      rows += '\n'
      if (rows.length < CHUNK_UNITS) continue
      yield rows
      rows = ''
    }
  }
  if (rows !== '') yield rows
}

/** As a Julian day, which needs no year: a day before year 1 or after 9999 is written like every other. */
function dayOf(time: string | null, days: ZoneDays): string {
  return time === null ? '\\N' : `J${days(Date.parse(time)) + JULIAN_DAY_OF_1970}`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
}

const SPECIAL = /[\\\t\n\r]/
const EACH_SPECIAL = new RegExp(SPECIAL, 'g')

/** A field in the text format of COPY. */
export function fieldOf(text: string | null): string {
  if (text === null) return '\\N'
  // Few texts need an escape, and a search is cheaper (docs/decisions/2026-11-26-comments-by-text-copy.md).
  if (!SPECIAL.test(text)) return text
  return text.replace(EACH_SPECIAL, (special) => ESCAPES[special] as string)
}

const DAY_MS = 86_400_000

/** Counts the day of a time, in milliseconds, from 1970-01-01 in one time zone. */
export type ZoneDays = (ms: number) => number

const utcDays: ZoneDays = (ms) => Math.floor(ms / DAY_MS)

/** The days of a time zone, as PostgreSQL counts them. */
export async function zoneDays(on: On, timeZone: string): Promise<ZoneDays> {
  if (timeZone === 'UTC') return utcDays
  const offsets = await definitions.offsets.all(on, { timeZone })
  return (ms) => utcDays(ms + aheadOf(offsets, ms))
}

/** How far the clocks of a time zone are ahead of UTC at a time. @param offsets in the order of their begin */
function aheadOf(offsets: readonly RowOf<typeof definitions.offsets>[], ms: number): number {
  let [low, high] = [0, offsets.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((offsets[middle]?.fromMs ?? 0) <= ms) low = middle + 1
    else high = middle
  }
  return (offsets[low - 1] ?? offsets[0])?.aheadMs ?? 0
}
