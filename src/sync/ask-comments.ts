import type { Answer } from '../collab-api/answer.ts'
import type { Call, CollabApi } from '../collab-api/client.ts'
import { chunkIds } from '../collab-api/filters.ts'
import { readStoredComments } from '../database/comments.ts'
import type { Database } from '../database/pool.ts'
import type { BatchScope } from '../database/scopes.ts'
import { CallError } from '../errors.ts'
import type { Privacy, PrivacyKeeper } from '../privacy/privacy.ts'
import { isObject } from './canonical.ts'
import { readComment } from './comment-record.ts'
import type { CommentRecord } from './comment-record.ts'
import { digestOfComments } from './content-digest.ts'
import { receivedOf } from './received.ts'
import type { Received, Reject } from './received.ts'
import type { CommentsResult, ScopeResult } from './scope-result.ts'

/** What asking needs. */
export interface Asking {
  readonly collabApi: CollabApi
  readonly database: Database
  /** Most ids in one filter of a call. */
  readonly maxIds: number
  readonly privacy: PrivacyKeeper
  /** The newest erasure that the claim saw; null to look with every scope. */
  readonly lastErasure: number | null
  /** Signals and counters that all its calls share. */
  readonly call: Omit<Call, 'knownDigest'>
}

/**
 * Asks for the comments of one annotation (service-api.md, Get Comments).
 * What is stored but missing from the full listing is asked for by its id: only a null at its place is evidence
 * that it is gone. With `commentIds` just these are asked for.
 * @throws CallError where the listing gave no usable answer
 */
export async function askComments(
  asking: Asking,
  scope: BatchScope,
  commentIds: readonly number[] | null,
): Promise<ScopeResult> {
  const privacy = await asking.privacy.of(scope.organizationId, asking.lastErasure)
  const collected = new Collected(scope, privacy, commentIds === null)
  if (commentIds !== null) {
    await askByIds(asking, scope, commentIds, collected)
    return collected.result(null, null)
  }
  const listing = await askListing(asking, scope, privacy, collected)
  if (listing === 'same-bytes') return unchanged(scope)
  const contentDigest = collected.contentDigest()
  if (collected.isClean && scope.contentDigest?.equals(contentDigest)) return unchanged(scope)
  if (!listing.paged && scope.hasRows) {
    const missing = await missingIds(asking.database, scope, collected)
    if (missing.length > 0) await askByIds(asking, scope, missing, collected)
  }
  return collected.isClean
    ? collected.result(privacy.sealed(listing.digest), contentDigest)
    : collected.result(null, null)
}

/** Asks for the full listing. When it returns, nothing holds the answer any more: a long one is a burden until then. */
async function askListing(
  asking: Asking,
  scope: BatchScope,
  privacy: Privacy,
  collected: Collected,
): Promise<'same-bytes' | { readonly digest: Buffer; readonly paged: boolean }> {
  const answer = await asking.collabApi.getComments(filterOf(scope), {
    ...asking.call,
    ...(scope.bodyDigest === null ? {} : { knownDigest: privacy.sealed(scope.bodyDigest) }),
  })
  if (answer.status === 'same-bytes') return 'same-bytes'
  collected.addListing(answer)
  if (answer.paged) collected.incomplete = onePageOfSeveral('comments')
  return { digest: answer.digest, paged: answer.paged }
}

/** An answer that says it is not the whole listing; the document shows no paging (service-api.md, Gaps). */
export function onePageOfSeveral(operation: string): CallError {
  return new CallError(
    `The answer to a listing of ${operation} says that it is one page of several. Its records are stored, nothing was removed. ` +
      'The service documents no paging: ask its owner.',
    { kind: 'refused', httpStatus: 200, errorStatus: 'one_page_of_several' },
  )
}

function unchanged(scope: BatchScope): ScopeResult {
  return { outcome: 'unchanged', scope, records: scope.recordCount }
}

function filterOf(scope: BatchScope) {
  const { organizationId, documentId, annotationId } = scope
  return { organizationId, documentId: documentId ?? '', annotationId: annotationId ?? '' }
}

/** Live comments that are stored and not in the listing. */
async function missingIds(
  database: Database,
  scope: BatchScope,
  collected: Collected,
): Promise<number[]> {
  const stored = (await readStoredComments(database, [scope.key])).get(scope.key)
  return [...(stored ?? [])]
    .filter(([id, { deleted }]) => !deleted && !collected.has(id))
    .map(([id]) => id)
    .sort((a, b) => a - b)
}

/** Asks for comments by id. A failed or odd answer is no evidence: it is told, and removes nothing. */
async function askByIds(
  asking: Asking,
  scope: BatchScope,
  ids: readonly number[],
  collected: Collected,
): Promise<void> {
  for (const chunk of chunkIds(ids, asking.maxIds)) {
    try {
      const answer = await asking.collabApi.getComments(
        { ...filterOf(scope), commentIds: chunk },
        asking.call,
      )
      if (answer.status === 'data') collected.addAnswerByIds(chunk, answer)
    } catch (error) {
      if (!(error instanceof CallError) || error.kind === 'credentials') throw error
      collected.incomplete = error
    }
  }
}

/** Sorts answers into records, rejects and evidence. */
class Collected {
  readonly #scope: BatchScope
  readonly #privacy: Privacy
  readonly #records = new Map<number, CommentRecord>()
  readonly #rejects: Reject[] = []
  #rejectedItems = 0
  readonly #gone: number[] = []
  #foundByAsking = false
  incomplete: CallError | null = null

  readonly #isListing: boolean

  constructor(scope: BatchScope, privacy: Privacy, isListing: boolean) {
    this.#scope = scope
    this.#privacy = privacy
    this.#isListing = isListing
  }

  /** True where all of one full listing is stored, so that its digests stand for it. */
  get isClean(): boolean {
    return this.#rejects.length === 0 && this.incomplete === null && !this.#foundByAsking
  }

  has(commentId: number): boolean {
    return this.#records.has(commentId)
  }

  addListing(answer: Extract<Answer, { status: 'data' }>): void {
    const received = this.#received(answer)
    for (let index = 0; index < received.items.length; index++) this.#add(received, index)
  }

  /**
   * Positions answer the ids asked for, one to one (service-api.md, Get Comments, rule 3). Where they do not line
   * up, nobody knows which null means which comment, and the whole answer is no evidence.
   */
  addAnswerByIds(ids: readonly number[], answer: Extract<Answer, { status: 'data' }>): void {
    const received = this.#received(answer)
    const { items } = received
    const linesUp =
      !answer.paged &&
      items.length === ids.length &&
      items.every(
        (item, place) => item === null || (isObject(item) && item['commentId'] === ids[place]),
      )
    if (!linesUp) {
      this.incomplete = doesNotLineUp(ids.length, items.length)
      return
    }
    items.forEach((item, index) => {
      if (item === null) return this.#gone.push(ids[index] as number)
      this.#foundByAsking = true
      this.#add(received, index)
    })
  }

  contentDigest(): Buffer {
    const inOrder = [...this.#records.values()].sort((a, b) => a.commentId - b.commentId)
    // Where nothing is stored yet every comment is new, and its own digest is needed as well.
    if (this.#scope.hasRows) return digestOfComments(inOrder)
    return digestOfComments(inOrder, (record, digest) => record.know(digest))
  }

  result(bodyDigest: Buffer | null, contentDigest: Buffer | null): CommentsResult {
    return {
      outcome: 'comments',
      scope: this.#scope,
      records: [...this.#records.values()],
      rejects: this.#rejects,
      rejectedItems: this.#rejectedItems,
      gone: this.#gone,
      isListing: this.#isListing,
      bodyDigest,
      contentDigest,
      incomplete: this.incomplete,
    }
  }

  #received(answer: Extract<Answer, { status: 'data' }>): Received {
    return receivedOf(answer, this.#privacy.redact?.comments)
  }

  #add(received: Received, index: number): void {
    const item = readComment(received, index, (reject) => this.#rejects.push(reject))
    if ('fault' in item) return this.#reject(item.fault, received.textOf(index))
    const { record } = item
    const twin = this.#records.get(record.commentId)
    if (twin !== undefined) {
      this.#reject(`commentId ${record.commentId} is in the answer twice`, received.textOf(index))
      if (!isBefore(twin, record)) return
    }
    this.#records.set(record.commentId, record)
  }

  #reject(reason: string, record: string): void {
    this.#rejects.push({ reason, record })
    this.#rejectedItems += 1
  }
}

/** Of two records of one comment the newer stays; the order of answers is "not shown" and must not decide. */
function isBefore(a: CommentRecord, b: CommentRecord): boolean {
  const [older, newer] = [a.lastUpdated ?? '', b.lastUpdated ?? '']
  return older === newer ? a.digest.compare(b.digest) > 0 : older < newer
}

function doesNotLineUp(asked: number, answered: number): CallError {
  return new CallError(
    `The service was asked for ${asked} comments by id and gave ${answered} answers that do not line up with them: no evidence of deletion.`,
    { kind: 'refused', httpStatus: 200, errorStatus: 'answer_does_not_line_up' },
  )
}
