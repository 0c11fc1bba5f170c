import type { Answer } from '../collab-api/answer.ts'
import type { BatchScope } from '../database/scopes.ts'
import { CallError } from '../errors.ts'
import type { Privacy } from '../privacy/privacy.ts'
import { isObject } from './canonical.ts'
import { readComment } from './comment-record.ts'
import type { CommentRecord } from './comment-record.ts'
import { digestOfComments } from './content-digest.ts'
import { receivedOf } from './received.ts'
import type { Received, Reject } from './received.ts'
import type { CommentsResult } from './scope-result.ts'

/** Sorts answers into records, rejects and evidence. */
export class CollectedComments {
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
    return digestOfComments(inOrder, (record, digest) => record.keepDigest(digest))
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
