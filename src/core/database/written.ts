import { writtenOf } from '../../base/timestamp.ts'
import * as definitions from './statements/definitions.ts'
import * as written from './statements/written.ts'
import { retryConflicts, transactionOn } from './pool.ts'
import type { Client } from './pool.ts'
import type { RowOf } from './statement.ts'

/** Progress: comments that were read, of about how many, and how many of them were changed. */
export type OnDerived = (done: number, all: number, changed: number) => void

/** What was derived again of stored comments, and by which definitions. */
export type Derived = NonNullable<Awaited<ReturnType<typeof deriveWritten>>>

/** A page is one transaction: some milliseconds during which a commit may wait. */
const COMMENTS_A_PAGE = 2000

/**
 * Derives again when stored comments were written, from what is stored of each, if the member that holds the time is another
 * one than before. Page by page, beside syncs; safe to stop and repeat. A time whose member is not stored
 * (`PRIVACY_RAW=drop`, erased) stays as it is. `changed_at` stays too; the feed of changes has each row that changed.
 * @returns how many comments were read, and how many of them got another time or day; null where there was nothing to derive
 */
export async function deriveWritten(client: Client, onDerived: OnDerived) {
  const { writtenMember, writtenMembersBefore, reportTimeZone } = await definitions.read.one(client)
  if (writtenMembersBefore === null) return null
  const { comments: all } = await written.count.one(client)
  let last: CommentKey = { annotationKey: 0, commentId: 0 }
  let done = 0
  let changed = 0
  for (;;) {
    const after = last
    const end = await written.pageEnd.first(client, { ...after, limit: COMMENTS_A_PAGE })
    if (end === undefined) break
    const path = writtenMember?.split('.') ?? null
    const derive = () => derivePage(client, after, end, path, writtenMembersBefore)
    changed += await retryConflicts(() => transactionOn(client, derive))
    last = end
    done += end.comments
    onDerived(done, Math.max(all, done), changed)
  }
  await written.finish.run(client)
  return { writtenMember, reportTimeZone, comments: done, changed }
}

type CommentKey = Pick<RowOf<typeof written.pageEnd>, 'annotationKey' | 'commentId'>

/** @returns how many comments it changed */
async function derivePage(
  client: Client,
  { annotationKey: fromAnnotation, commentId: fromComment }: CommentKey,
  { annotationKey: toAnnotation, commentId: toComment }: CommentKey,
  path: string[] | null,
  membersBefore: readonly string[],
): Promise<number> {
  const page = { fromAnnotation, fromComment, toAnnotation, toComment }
  // Every writer of comments locks their batch: nothing of the page changes until this is committed.
  await written.lockBatches.all(client, {
    firstAnnotation: fromAnnotation,
    lastAnnotation: toAnnotation,
  })
  const rows = await written.readMembers.all(client, { ...page, path, membersBefore })
  const changed = await written.update.all(client, {
    ...page,
    annotationKeys: rows.map(({ annotationKey }) => annotationKey),
    commentIds: rows.map(({ commentId }) => commentId),
    writtenAts: rows.map(writtenAtOf),
  })
  const annotationKeys = [...new Set(changed.map(({ annotationKey }) => annotationKey))]
  if (annotationKeys.length > 0) await written.storeFacts.run(client, { annotationKeys })
  return changed.length
}

/** By the member; else a time that was by a member which is not stored any more. */
function writtenAtOf(row: RowOf<typeof written.readMembers>): string | null {
  const before = row.writtenAt?.toISOString() ?? null
  const now = timeIn(row.value)
  return now ?? (row.valuesBefore.some((value) => timeIn(value) === before) ? null : before)
}

function timeIn(json: string | null): string | null {
  return json === null ? null : writtenOf(JSON.parse(json))
}
