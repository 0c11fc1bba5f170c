import { unitsOf } from '../../columns.ts'
import { CommentRows } from '../../database/comment-rows.ts'
import type { EncodedRows } from '../../database/comment-rows.ts'
import type { ZoneDays } from '../../database/zone-days.ts'
import { activeAtOf, notBeforeOf, threadFactsOf } from '../compare/comments.ts'
import type { CommentsResult, NewThreadResult } from '../fetch/result.ts'
import { keepNewest } from './user-rows.ts'
import type { AuthorSighting } from './user-rows.ts'

/** Of a longer answer the rows are made while they are sent: it would be in memory twice. */
const UNITS_MAX = 1024 * 1024

/**
 * Comments of annotations under which nothing was ever stored, as the rows that they become. They wait for their commit as
 * bytes outside of the heap then: kept as objects, thousands of comments would be moved about by the garbage collector
 * until they are written.
 */
export class NewThreads {
  readonly #rows: CommentRows
  readonly #at: Date
  #threads = 0
  readonly #authors = new Map<string, AuthorSighting>()

  /**
   * @param at when the comments were first seen
   * @param days those of reports; UTC when left out
   */
  constructor(at: Date, days?: ZoneDays) {
    this.#rows = new CommentRows(at, days)
    this.#at = at
  }

  get bytes(): number {
    return this.#rows.bytes
  }

  /** Takes over the comments of a listing. @returns the result without them; null where it stays as it is */
  add(result: CommentsResult): NewThreadResult | null {
    const { scope, records, rejects, rejectedItems, bodyDigest, contentDigest, incomplete } = result
    if (scope.hasRows || !result.isListing || records.length === 0) return null
    const units = records.reduce((sum, record) => sum + unitsOf(record.texts), 0)
    if (units > UNITS_MAX) return null
    const facts = threadFactsOf(records)
    const from = this.#rows.bytes
    const { organizationKey, key: annotationKey, seenAt } = scope
    const notBefore = notBeforeOf(scope)
    this.#rows.add({ organizationKey, annotationKey, notBefore, seenAt, comments: records })
    for (const record of records) keepNewest(this.#authors, record)
    this.#threads += 1
    return {
      outcome: 'new-thread',
      scope,
      comments: records.length,
      rows: { from, to: this.#rows.bytes },
      facts,
      activeAt: activeAtOf({ added: records, changed: [], deleted: [] }, scope, this.#at),
      rejects,
      rejectedItems,
      bodyDigest,
      contentDigest,
      incomplete,
    }
  }

  /** The rows and authors of some of the threads, or of all. */
  of(threads: readonly NewThreadResult[]): WaitingThreads {
    if (threads.length === this.#threads) return { rows: this.#rows, authors: this.#authors }
    const chunks = threads.flatMap(({ rows: { from, to } }) => this.#rows.between(from, to))
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
    const userIds = new Set(threads.flatMap(({ facts }) => facts.authors))
    const authors = new Map([...this.#authors].filter(([userId]) => userIds.has(userId)))
    return { rows: { bytes, chunks }, authors }
  }
}

/** New threads as a commit takes them. */
export interface WaitingThreads {
  readonly rows: EncodedRows
  /** Each as the newest of the comments shows them. */
  readonly authors: ReadonlyMap<string, AuthorSighting>
}
