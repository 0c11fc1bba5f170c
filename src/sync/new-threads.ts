import { CommentRows } from '../database/comment-rows.ts'
import type { CommentRecord } from './comment-record.ts'
import type { CommentsResult, NewThreadResult } from './scope-result.ts'
import { threadFactsOf } from './thread-facts.ts'
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
  readonly rows: CommentRows
  /** Their authors, each as the newest of these comments shows them. */
  readonly authors = new Map<string, AuthorSighting>()

  /** @param at when the comments were first seen */
  constructor(at: Date) {
    this.rows = new CommentRows(at)
  }

  /** Takes over the comments of a listing. @returns the result without them; null where it stays as it is */
  add(result: CommentsResult): NewThreadResult | null {
    const { scope, records, rejects, rejectedItems, bodyDigest, contentDigest, incomplete } = result
    if (scope.hasRows || !result.isListing || records.length === 0) return null
    if (unitsOf(records) > UNITS_MAX) return null
    this.rows.add({
      organizationKey: scope.organizationKey,
      annotationKey: scope.key,
      comments: records,
    })
    for (const record of records) keepNewest(this.authors, record)
    return {
      outcome: 'new-thread',
      scope,
      comments: records.length,
      facts: threadFactsOf(records),
      rejects,
      rejectedItems,
      bodyDigest,
      contentDigest,
      incomplete,
    }
  }
}

function unitsOf(records: readonly CommentRecord[]): number {
  let units = 0
  for (const { commentText, commentHtml, rest } of records)
    units += (commentText?.length ?? 0) + (commentHtml?.length ?? 0) + (rest?.length ?? 0)
  return units
}
