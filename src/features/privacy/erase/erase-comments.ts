import { arraysOf, COMMENT_COLUMN_LIST } from '../../../base/columns.ts'
import { countErased, erasing, lookThrough } from './rows.ts'
import type { ErasePlace } from './rows.ts'
import type { Client, Database } from '../../../core/database/pool.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import * as erase from '../../../core/database/statements/erase.ts'
import * as scopes from '../../../core/database/statements/scopes.ts'
import { eraseCommentRecord, piecesOf } from './erase-record.ts'
import type { CommentErased, CommentToErase } from './erase-record.ts'
import type { Person } from './person.ts'

type CommentKey = Pick<CommentToErase, 'annotationKey' | 'commentId'>
type FoundComment = RowOf<typeof erase.findComments>

/** Comments that are rewritten in one transaction, so that nobody waits long for their batch. */
const COMMENTS_A_PIECE = 500

/**
 * Empties a person's comments and their history, and takes the person out of others'. Each piece holds its batch as a commit
 * does, and nothing else that a commit waits for.
 * @returns how many comments of others hold the person's name in their words
 */
export async function eraseComments(
  database: Database,
  { organizationKeys }: ErasePlace,
  person: Person,
  { erasureId, erasedAt }: RowOf<typeof erase.register>,
): Promise<number> {
  const found = await lookThrough(database, (client) =>
    erase.findComments.all(client, {
      organizationKeys,
      registeredAt: erasedAt,
      ...person.search,
    }),
  )
  const mentions = new Set(found.filter(({ named }) => named).map(keyOf))
  const hits = found.filter(({ hit }) => hit)
  const pieces = piecesOf(
    hits,
    COMMENTS_A_PIECE,
    ({ batchKey }) => batchKey,
    ({ units }) => units,
  )
  for (const piece of pieces) {
    const own = await erasing(database, (client) => erasePiece(client, piece, person, erasureId))
    for (const comment of own) mentions.delete(keyOf(comment))
  }
  return mentions.size
}

/** @returns those of the piece that are the person's own */
async function erasePiece(
  client: Client,
  piece: readonly [FoundComment, ...FoundComment[]],
  person: Person,
  erasureId: number,
): Promise<CommentToErase[]> {
  await scopes.lockBatch.one(client, { batchKey: piece[0].batchKey, runId: null })
  const stored = await erase.readComments.all(client, keysOf(piece))
  const erased = stored.flatMap((comment) => eraseCommentRecord(comment, person.redaction) ?? [])
  const own = stored.filter((comment) => isBy(comment, person))
  const commentVersions = await erase.emptyVersions.run(client, keysOf(own))
  const keys = new Set(own.map(keyOf))
  if (erased.length > 0) {
    await updateComments(client, erased)
    const { userId, pseudonym } = person
    const annotationKeys = [...new Set(keysOf(erased).annotationKeys)]
    await erase.forgetThreads.run(client, { annotationKeys, userId, pseudonym })
  }
  const comments = erased.filter((comment) => keys.has(keyOf(comment))).length
  const mentionsInRecords = erased.length - comments
  await countErased(client, erasureId, { comments, commentVersions, mentionsInRecords })
  return own
}

async function updateComments(client: Client, comments: readonly CommentErased[]): Promise<void> {
  await erase.updateComments.run(client, {
    ...keysOf(comments),
    digests: comments.map(({ digest }) => digest),
    ...arraysOf(COMMENT_COLUMN_LIST, comments),
  })
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
  // Found because a run emptied it since the erasure was registered.
  return COMMENT_COLUMN_LIST.every(
    ({ name, personal }) => personal === 'state' || comment[name] === null,
  )
}
