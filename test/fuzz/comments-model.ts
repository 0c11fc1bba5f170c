import type { ServiceResponse } from './response-model.ts'
import type { Json } from './exact-json.ts'
import { LIMITS, commentOf } from './record-model.ts'
import type { ModelComment } from './record-model.ts'

export interface Reject {
  readonly reason: string
  readonly record: string
}

/** The result of one scope in one run. */
export interface Outcome {
  readonly status: 'good' | 'failed' | 'held'
  readonly failure: {
    readonly httpStatus: number | null
    readonly errorStatus: string | null
  } | null
  readonly rejects: readonly Reject[]
  /** The number of whole records among the rejects. */
  readonly rejectedRecords: number
  /** Whether a table lacks part of the response; an exact duplicate of a record is not lacking. */
  readonly isLacking: boolean
}

/** A stored comment. If a response contained duplicates, the row may have either. */
export interface StoredComment {
  candidates: readonly ModelComment[]
  deleted: boolean
  /** Lowest and highest number of its version. */
  version: readonly [number, number]
  change: string
}

export type CommentsById = Map<number, StoredComment>

/** A call with its answer. */
export interface Call {
  readonly ids: readonly number[] | null
  readonly answer: ServiceResponse
}

/** The stored comments of one annotation, and how a response changes them. */
export class AnnotationModel {
  readonly comments: CommentsById = new Map()
  /** The content of the last clean listing; null where there is none. */
  #known: string | null = null

  /**
   * Applies the responses of one run, the listing first.
   * @param told the failure that the run stored: a circuit breaker may skip requests by ID
   * @throws Error if the rules require other calls
   */
  apply(calls: readonly Call[], maxIds: number, told: Outcome['failure']): CommentsOutcome {
    const [listing, ...byId] = calls
    if (listing === undefined || listing.ids !== null) throw new Error('no listing was asked for')
    if (listing.answer.kind === 'failed') {
      if (byId.length > 0) throw new Error('asked by id though the listing failed')
      return failedAs(listing.answer)
    }
    const read = new ReadComments()
    const refusal = read.addListing(listing.answer.items, listing.answer.text)
    if (refusal !== null) {
      if (byId.length > 0) throw new Error('asked by id though the listing was refused')
      return failedAs({ httpStatus: 200, errorStatus: refusal })
    }
    const content = read.contentKey()
    if (read.isClean && content === this.#known) {
      if (byId.length > 0) throw new Error('asked by id though nothing changed')
      return { ...GOOD, written: [0, 0], deleted: 0, sightings: [] }
    }
    for (const { ids, answer } of byId) read.addById(ids ?? [], answer)
    this.#checkAsked(read, byId, maxIds, told)
    const outcome = this.#store(read)
    this.#known = read.isClean ? content : null
    return outcome
  }

  #checkAsked(
    read: ReadComments,
    byId: readonly Call[],
    maxIds: number,
    told: Outcome['failure'],
  ): void {
    const missing = [...this.comments]
      .filter(([id, { deleted }]) => !deleted && !read.listed.has(id))
      .map(([id]) => id)
      .sort((a, b) => a - b)
    const asked = byId.flatMap(({ ids }) => ids ?? [])
    if (byId.some(({ ids }) => (ids?.length ?? 0) > maxIds)) throw new Error('too many ids')
    const wanted = told?.errorStatus === 'breaker_open' ? asked : missing
    if (
      JSON.stringify(asked) !== JSON.stringify(wanted) ||
      asked.some((id) => !missing.includes(id))
    )
      throw new Error(`asked by id for ${JSON.stringify(asked)}, not ${JSON.stringify(missing)}`)
    // Comments that were not requested are neither confirmed nor deleted.
    if (asked.length < missing.length) read.incomplete = told
  }

  #store(read: ReadComments): CommentsOutcome {
    let [least, most, deleted] = [0, 0, 0]
    const sightings: CommentSighting[] = []
    for (const [id, candidates] of read.records) {
      const before = this.comments.get(id)
      const keys = new Set(candidates.map(contentOf))
      const old = new Set(before?.candidates.map(contentOf))
      const mayBeSame =
        before !== undefined && !before.deleted && [...keys].some((key) => old.has(key))
      const isSame = mayBeSame && keys.size === 1 && old.size === 1
      if (isSame) continue
      least += mayBeSame ? 0 : 1
      most += 1
      const comment = storedAs(before, candidates, mayBeSame)
      sightings.push({ comment, unless: before?.deleted === false ? old : new Set() })
      this.comments.set(id, comment)
    }
    for (const id of read.gone) {
      const before = this.comments.get(id)
      if (before === undefined || before.deleted || read.records.has(id)) continue
      deleted += 1
      before.deleted = true
      before.change = 'deleted'
      before.version = [before.version[0] + 1, before.version[1] + 1]
    }
    return {
      status: read.incomplete === null ? 'good' : 'failed',
      failure: read.incomplete,
      rejects: read.rejects,
      rejectedRecords: read.rejectedRecords,
      isLacking: read.isLacking,
      written: [least, most],
      deleted,
      sightings,
    }
  }
}

export interface CommentsOutcome extends Outcome {
  /** Fewest and most comments written. */
  readonly written: readonly [number, number]
  readonly deleted: number
  readonly sightings: readonly CommentSighting[]
}

/** A written comment, which also names its author. */
export interface CommentSighting {
  readonly comment: StoredComment
  /** Contents for which nothing was written: of duplicates the stored one stayed. */
  readonly unless: ReadonlySet<string>
}

const GOOD = {
  status: 'good',
  failure: null,
  rejects: [],
  rejectedRecords: 0,
  isLacking: false,
} as const

function failedAs({ httpStatus, errorStatus }: NonNullable<Outcome['failure']>): CommentsOutcome {
  const failure = { httpStatus, errorStatus }
  return { ...GOOD, status: 'failed', failure, written: [0, 0], deleted: 0, sightings: [] }
}

function storedAs(
  before: StoredComment | undefined,
  candidates: readonly ModelComment[],
  mayBeSame: boolean,
): StoredComment {
  if (before === undefined) return { candidates, deleted: false, version: [1, 1], change: 'added' }
  const [low, high] = before.version
  if (before.deleted) {
    return { candidates, deleted: false, version: [low + 1, high + 1], change: 'restored' }
  }
  const old = new Set(before.candidates.map(versionOf))
  const now = new Set(candidates.map(versionOf))
  const mayBeVersion = mayBeSame || [...now].some((version) => old.has(version))
  const isVersion = !mayBeVersion
  const mayDiffer = now.size > 1 || old.size > 1 || isVersion
  return {
    candidates,
    deleted: false,
    version: [low + (isVersion ? 1 : 0), high + (mayDiffer ? 1 : 0)],
    change: isVersion ? 'edited' : mayDiffer ? '' : before.change,
  }
}

/** The content of a row. */
export function contentOf(comment: ModelComment): string {
  const { author: _author, ...columns } = comment
  return JSON.stringify(columns)
}

/** The content of a version. A change of only the author or an undocumented field creates none. */
function versionOf({ text, html, status, type, lastUpdated }: ModelComment): string {
  return JSON.stringify([text, html, status, type, lastUpdated])
}

/** The items of one run's answers about an annotation, sorted. */
class ReadComments {
  readonly records = new Map<number, ModelComment[]>()
  readonly rejects: Reject[] = []
  /** Ids of which the listing spoke; those of rejected records too. */
  readonly listed = new Set<number>()
  readonly gone: number[] = []
  rejectedRecords = 0
  isLacking = false
  incomplete: Outcome['failure'] = null
  #foundByAsking = false

  get isClean(): boolean {
    return this.rejects.length === 0 && this.incomplete === null && !this.#foundByAsking
  }

  contentKey(): string {
    return JSON.stringify(
      [...this.records.values()].map((candidates) => candidates.map(contentOf)).sort(),
    )
  }

  /** Null, or why the whole answer is refused. */
  addListing(items: readonly Json[], text: string): string | null {
    const read = items.map(commentOf)
    read.forEach((each, index) => this.#add(each, items[index] as Json, text))
    for (const each of read) {
      if ('record' in each) this.listed.add(each.record.commentId)
      else if (each.id !== null) this.listed.add(Number(each.id))
    }
    return this.rejects.length > LIMITS.rejectedRecords ? 'too_many_rejected' : null
  }

  addById(ids: readonly number[], answer: ServiceResponse): void {
    if (answer.kind === 'failed') {
      const { httpStatus, errorStatus } = answer
      this.incomplete = { httpStatus, errorStatus }
      return
    }
    const { items, text } = answer
    const linesUp =
      items.length === ids.length && items.every((item, at) => isAnswerOf(item, ids[at]))
    if (!linesUp) {
      this.incomplete = { httpStatus: 200, errorStatus: 'answer_does_not_line_up' }
      return
    }
    items.forEach((item, at) => {
      if (item.kind === 'null') return void this.gone.push(ids[at] as number)
      this.#foundByAsking = true
      this.#add(commentOf(item), item, text)
    })
  }

  #add(read: ReturnType<typeof commentOf>, item: Json, text: string): void {
    const record = text.slice(item.start, Math.min(item.end, item.start + LIMITS.recordCharacters))
    if ('fault' in read) {
      this.isLacking = true
      this.rejectedRecords += 1
      this.rejects.push({ reason: read.fault, record })
      return
    }
    for (const reason of read.reasons) this.rejects.push({ reason, record })
    const { commentId } = read.record
    const twins = this.records.get(commentId)
    if (twins === undefined) {
      this.records.set(commentId, [read.record])
      return
    }
    this.rejectedRecords += 1
    if (twins.some((twin) => contentOf(twin) !== contentOf(read.record))) this.isLacking = true
    this.rejects.push({ reason: `commentId ${commentId} is in the response twice`, record })
    this.records.set(commentId, newest([...twins, read.record]))
  }
}

function isAnswerOf(item: Json, id: number | undefined): boolean {
  if (item.kind === 'null') return true
  const own = item.kind === 'object' ? item.members.get('commentId') : undefined
  return own?.kind === 'number' && Number(own.text) === id
}

/** Of twins the newer stays; of equally old ones either. */
function newest(twins: readonly ModelComment[]): ModelComment[] {
  const time = ({ lastUpdated }: ModelComment) => lastUpdated ?? -Infinity
  const latest = Math.max(...twins.map(time))
  return twins.filter((twin) => time(twin) === latest)
}
