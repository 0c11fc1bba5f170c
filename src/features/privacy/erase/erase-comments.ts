import { arraysOf, COMMENT_COLUMN_LIST } from '../../../base/columns.ts'
import { chunksOf, countErased, erasing, reading } from './rows.ts'
import type { ErasePlace } from './rows.ts'
import type { Client, Database } from '../../../core/database/pool.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import * as erase from '../../../core/database/statements/erase.ts'
import { eraseCommentRecord, isBare } from './erase-record.ts'
import type { CommentToErase } from './erase-record.ts'
import type { Person } from './person.ts'

type CommentKey = Pick<CommentToErase, 'annotationKey' | 'commentId'>
type FoundComment = RowOf<typeof erase.findComments>

/** Comments that are rewritten in one transaction: their batches stay locked for a short time only. */
const COMMENTS_A_CHUNK = 500

/**
 * Empties a person's comments and their history, and removes the person from comments of other users. Each chunk locks
 * its batches as commits do, and nothing else that a commit waits for. docs/decisions/2026-11-27-erasure-rule.md says why
 * a chunk has several batches.
 * @returns how many comments of other users contain the person's name
 */
export async function eraseComments(
  database: Database,
  place: ErasePlace,
  person: Person,
  { erasureId, erasedAt }: RowOf<typeof erase.register>,
): Promise<number> {
  const found = await reading(database, place, (client) =>
    erase.findComments.all(client, {
      organizationKeys: place.organizationKeys,
      registeredAt: erasedAt,
      ...person.search,
    }),
  )
  const mentions = new Set(found.filter(({ named }) => named).map(keyOf))
  const hits = found.filter(({ hit }) => hit)
  for (const chunk of chunksOf(hits, COMMENTS_A_CHUNK)) {
    const own = await erasing(database, (client) => eraseChunk(client, chunk, person, erasureId))
    for (const comment of own) mentions.delete(keyOf(comment))
  }
  return mentions.size
}

/** @returns the comments of the chunk that are the person's own */
async function eraseChunk(
  client: Client,
  chunk: readonly FoundComment[],
  person: Person,
  erasureId: number,
): Promise<CommentToErase[]> {
  await erase.lockBatches.all(client, {
    batchKeys: [...new Set(chunk.map(({ batchKey }) => batchKey))],
  })
  const stored = await erase.readComments.all(client, keysOf(chunk))
  const erased = stored.flatMap((comment) => eraseCommentRecord(comment, person.redaction) ?? [])
  const own = stored.filter((comment) => isBy(comment, person))
  const commentVersions = await erase.emptyVersions.run(client, keysOf(own))
  const keys = new Set(own.map(keyOf))
  if (erased.length > 0) {
    await erase.updateComments.run(client, {
      ...keysOf(erased),
      digests: erased.map(({ digest }) => digest),
      ...arraysOf(COMMENT_COLUMN_LIST, erased),
    })
    const { userId, pseudonym } = person
    const annotationKeys = [...new Set(keysOf(erased).annotationKeys)]
    await erase.forgetThreads.run(client, { annotationKeys, userId, pseudonym })
  }
  const comments = erased.filter((comment) => keys.has(keyOf(comment))).length
  const mentionsInRecords = erased.length - comments
  await countErased(client, erasureId, { comments, commentVersions, mentionsInRecords })
  return own
}

function keysOf(comments: readonly CommentKey[]) {
  return {
    annotationKeys: comments.map(({ annotationKey }) => annotationKey),
    commentIds: comments.map(({ commentId }) => commentId),
  }
}

function keyOf({ annotationKey, commentId }: CommentKey): string {
  return `${annotationKey} ${commentId}`
}

function isBy(comment: CommentToErase, person: Person): boolean {
  const { authorUserId, authorEmail } = comment
  if (authorUserId !== null) return [person.userId, person.pseudonym].includes(authorUserId)
  if (authorEmail !== null) return person.redaction.erased?.pseudonymOfEmail(authorEmail) != null
  // Found because a run emptied it after the erasure was registered.
  return isBare(comment)
}
