import {
  emptyVersions,
  findComments,
  forgetThreads,
  readComments,
  updateComments,
} from '../database/erase-comments.ts'
import type { CommentKey, CommentToErase, FoundComment } from '../database/erase-comments.ts'
import { countErased } from '../database/erase.ts'
import type { ErasePlace, Erasing } from '../database/erase.ts'
import { transaction } from '../database/pool.ts'
import type { Client, Database } from '../database/pool.ts'
import * as scopes from '../database/statements/scopes.ts'
import { eraseCommentRecord } from './erase-record.ts'
import type { Person } from './person.ts'
import { piecesOf } from './pieces.ts'

/** Comments that are rewritten in one transaction, so that nobody waits long for their batch. */
const COMMENTS_A_PIECE = 500

/**
 * Empties a person's comments and their history, and takes the person out of others'. Each piece holds its batch as a commit
 * does, and nothing else that a commit waits for.
 * @returns how many comments of others hold the person's name in their words
 */
export async function eraseComments(
  database: Database,
  place: ErasePlace,
  person: Person,
  { erasureId, registeredAt }: Erasing,
): Promise<number> {
  const found = await transaction(database, (client) =>
    findComments(client, place, person.search, registeredAt),
  )
  const named = new Set(found.filter(({ isNamed }) => isNamed).map(keyOf))
  const hits = found.filter(({ isHit }) => isHit)
  const pieces = piecesOf(
    hits,
    COMMENTS_A_PIECE,
    ({ batchKey }) => batchKey,
    ({ units }) => units,
  )
  for (const piece of pieces) {
    const own = await transaction(database, (client) =>
      erasePiece(client, piece, person, erasureId),
    )
    for (const comment of own) named.delete(keyOf(comment))
  }
  return named.size
}

/** @returns those of the piece that are the person's own */
async function erasePiece(
  client: Client,
  piece: readonly [FoundComment, ...FoundComment[]],
  person: Person,
  erasureId: number,
): Promise<CommentToErase[]> {
  await scopes.lockBatch.one(client, { batchKey: piece[0].batchKey })
  const stored = await readComments(client, piece)
  const erased = stored.flatMap((comment) => eraseCommentRecord(comment, person.redaction) ?? [])
  const own = stored.filter((comment) => isBy(comment, person))
  const commentVersions = await emptyVersions(client, own)
  const keys = new Set(own.map(keyOf))
  if (erased.length > 0) {
    await updateComments(client, erased)
    await forgetThreads(client, erased, person.userId, person.pseudonym)
  }
  const comments = erased.filter((comment) => keys.has(keyOf(comment))).length
  const mentionsInRecords = erased.length - comments
  await countErased(client, erasureId, { comments, commentVersions, mentionsInRecords })
  return own
}

function keyOf({ annotationKey, commentId }: CommentKey): string {
  return `${annotationKey} ${commentId}`
}

function isBy(comment: CommentToErase, person: Person): boolean {
  const { authorUserId, authorName, authorEmail, commentText, commentHtml, rest } = comment
  if (authorUserId !== null) return [person.userId, person.pseudonym].includes(authorUserId)
  if (authorEmail !== null) return person.redaction.erased?.pseudonymOfEmail(authorEmail) != null
  // Found because a run emptied it since the erasure was registered.
  const texts = [authorName, commentText, commentHtml, rest]
  return texts.every((text) => text === null)
}
