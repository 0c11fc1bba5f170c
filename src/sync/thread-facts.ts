import type { ThreadFacts } from '../database/known-answers.ts'
import type { CommentRecord } from './comment-record.ts'

/**
 * What reports ask of a thread, from the comments themselves: the same as collab_store.thread_facts finds where every
 * comment is live and in its first version, without reading back what was just written.
 */
export function threadFactsOf(comments: readonly CommentRecord[]): ThreadFacts {
  let first: CommentRecord | null = null
  let last: string | null = null
  for (const comment of comments) {
    if (first === null || isBefore(comment, first)) first = comment
    if (comment.lastUpdated !== null && (last === null || comment.lastUpdated > last))
      last = comment.lastUpdated
  }
  const opener = first?.authorUserId ?? null
  const authors = new Set<string>()
  let firstAnswerAt: string | null = null
  for (const { authorUserId, lastUpdated } of comments) {
    if (authorUserId === null) continue
    authors.add(authorUserId)
    if (opener === null || authorUserId === opener || lastUpdated === null) continue
    if (firstAnswerAt === null || lastUpdated < firstAnswerAt) firstAnswerAt = lastUpdated
  }
  return {
    firstCommentAt: first?.lastUpdated ?? null,
    lastCommentAt: last,
    firstAnswerAt,
    authors: inByteOrder(authors),
  }
}

/** By time, those without one last, then by id. Times are ISO 8601 in UTC with milliseconds: as texts they sort as times. */
function isBefore(a: CommentRecord, b: CommentRecord): boolean {
  if (a.lastUpdated === b.lastUpdated) return a.commentId < b.commentId
  if (a.lastUpdated === null || b.lastUpdated === null) return b.lastUpdated === null
  return a.lastUpdated < b.lastUpdated
}

/** UTF-16 sorts otherwise than UTF-8 only where half a pair stands for a character. */
function inByteOrder(texts: Iterable<string>): string[] {
  const sorted = [...texts].sort()
  if (!sorted.some((text) => /[\ud800-\udfff]/.test(text))) return sorted
  return sorted.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}
