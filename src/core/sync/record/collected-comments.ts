import type { BatchScope } from '../../database/scopes.ts'
import { CallError } from '../../../base/errors.ts'
import type { Redact, Rules } from '../rules.ts'
import type { Answer } from '../../service/answer.ts'
import type { CommentsResult } from '../fetch/result.ts'
import type { ObservedMembers } from './observed-members.ts'
import { readComment } from './comment.ts'
import type { CommentRecord } from './comment.ts'
import { digestOfComments, isObject } from './digest.ts'
import {
  checkRejects,
  keptText,
  processingFault,
  receivedOf,
  REJECTS_MAX,
  tooManyRejected,
} from './received.ts'
import type { Received, Reject } from './received.ts'
import { counted } from '../../../documents/format.ts'
import { twinReason } from './user.ts'

/** Sorts answers into records, rejects and evidence. */
export class CollectedComments {
  readonly #scope: BatchScope
  readonly #redact: Redact | null
  readonly #records = new Map<number, CommentRecord>()
  readonly #rejects: Reject[] = []
  #rejectedItems = 0
  readonly #gone: number[] = []
  /** Comments of which nothing is stored, though the answers hold them: they are not missing. */
  readonly #rejectedIds = new Set<number>()
  #foundByAsking = false
  incomplete: CallError | null = null

  readonly #isListing: boolean
  readonly #texts: Map<number, string> | null
  readonly #writtenPath: readonly string[] | null
  readonly #onRead: ((item: unknown) => void) | null

  /**
   * @param options.observed notes the members of the records; left out where nothing is stored
   * @param options.keepsTexts whether the result holds the text of each record; each then has its digest too
   */
  constructor(
    scope: BatchScope,
    isListing: boolean,
    {
      rules,
      keepsTexts = false,
      observed,
    }: {
      rules: Rules
      keepsTexts?: boolean | undefined
      observed?: ObservedMembers | undefined
    },
  ) {
    this.#scope = scope
    this.#redact = rules.redact(scope.organizationId)
    this.#isListing = isListing
    this.#texts = keepsTexts ? new Map() : null
    this.#onRead = observed === undefined ? null : (item) => observed.see('comment', item)
    this.#writtenPath = rules.writtenPath
  }

  /** True where all of one full listing is stored, so that its digests stand for it. */
  get isClean(): boolean {
    return this.#rejects.length === 0 && this.incomplete === null && !this.#foundByAsking
  }

  /** Whether an answer spoke of the comment, sound or not. */
  has(commentId: number): boolean {
    return this.#records.has(commentId) || this.#rejectedIds.has(commentId)
  }

  /** @throws CallError where too many are rejected */
  addListing(answer: Extract<Answer, { status: 'data' }>): void {
    const received = this.#received(answer)
    for (let index = 0; index < received.length; index++) {
      this.#add(received, index)
      if (this.#rejects.length > REJECTS_MAX) throw tooManyRejected(received.length)
    }
    checkRejects(this.#rejects, received.length)
  }

  /**
   * Positions answer the ids asked for, one to one (service-api.md, Get Comments, rule 3). Where they do not line
   * up, nobody knows which null means which comment, and the whole answer is no evidence.
   */
  addAnswerByIds(ids: readonly number[], answer: Extract<Answer, { status: 'data' }>): void {
    const { data } = answer
    const received = this.#received(answer)
    const linesUp =
      data.length === ids.length &&
      data.every(
        (item, place) => item === null || (isObject(item) && item['commentId'] === ids[place]),
      )
    if (!linesUp) {
      this.incomplete = doesNotLineUp(ids.length, data.length)
      return
    }
    data.forEach((item, index) => {
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
      ...(this.#texts === null ? {} : { texts: this.#texts }),
    }
  }

  #received(answer: Extract<Answer, { status: 'data' }>): Received {
    return receivedOf(answer, this.#redact?.comments, this.#onRead)
  }

  /** Whatever fails while a record is read concerns that record alone. */
  #add(received: Received, index: number): void {
    const before = this.#rejects.length
    try {
      const item = readComment(received, index, this.#tell, this.#writtenPath)
      if ('fault' in item) return this.#rejectWhole(received, index, item.fault)
      const { record } = item
      const twin = this.#records.get(record.commentId)
      if (twin === undefined) this.#keep(received, record)
      else this.#addTwin(received, twin, record)
    } catch (error) {
      this.#rejects.length = before
      const { commentId } = Object(received.rawAt(index)) as { commentId?: unknown }
      if (typeof commentId === 'number') this.#rejectedIds.add(commentId)
      this.#rejectWhole(received, index, processingFault(error))
    }
  }

  #keep(received: Received, record: CommentRecord): void {
    if (this.#texts !== null && record.digest.length > 0)
      this.#texts.set(record.commentId, received.textOf(record.place))
    this.#records.set(record.commentId, record)
  }

  /** Of two records of one comment. Where both are equal, nothing is lost with one of them. */
  #addTwin(received: Received, twin: CommentRecord, record: CommentRecord): void {
    const isSame = twin.digest.equals(record.digest)
    const isNewer = !isSame && isBefore(twin, record)
    if (isNewer) this.#keep(received, record)
    const loser = isNewer ? twin : record
    this.#rejectWhole(received, loser.place, twinReason('commentId', isSame), !isSame)
  }

  readonly #tell = (fault: Reject): void => {
    this.#rejects.push(fault)
  }

  #rejectWhole(received: Received, index: number, reason: string, isWhole = true): void {
    this.#rejects.push({ reason, record: keptText(received, index), isWhole })
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
    `The service was asked for ${counted(asked, 'comment')} by id and gave ${counted(answered, 'answer')} in another order or number: no evidence of deletion.`,
    { kind: 'refused', httpStatus: 200, errorStatus: 'answer_does_not_line_up' },
  )
}
