import type { Json } from './exact-json.ts'
import { LIMITS } from './record-model.ts'
import type { Item, ModelComment, ModelUser } from './record-model.ts'
import type { ServiceResponse } from './response-model.ts'

export interface Reject {
  readonly reason: string
  readonly record: string
}

type Failed = Extract<ServiceResponse, { kind: 'failed' }>
type Data = Extract<ServiceResponse, { kind: 'data' }>
type Id = number | string

/** The records of all responses of one run about a scope. */
export class Received<T extends ModelComment | ModelUser> {
  /** Of records with one ID, those of which one is stored. */
  readonly records = new Map<Id, T[]>()
  readonly rejects: Reject[] = []
  /** IDs in the listing; those of rejected records too. */
  readonly listed = new Set<Id>()
  readonly gone: number[] = []
  /** The number of whole records among the rejects. */
  rejectedRecords = 0
  /** Rejected records whose ID is unknown. */
  nameless = 0
  /** Whether a table lacks part of the response; an exact duplicate of a record is not lacking. */
  isLacking = false
  incomplete: Failed | null = null
  #foundById = false
  readonly #read: (item: Json) => Item<T>
  readonly #idOf: (record: T) => Id

  constructor(read: (item: Json) => Item<T>, idOf: (record: T) => Id) {
    this.#read = read
    this.#idOf = idOf
  }

  /** Whether the same listing need not be read again. */
  get isClean(): boolean {
    return this.rejects.length === 0 && this.incomplete === null && !this.#foundById
  }

  /** Equal for equal content. */
  contentKey(): string {
    return JSON.stringify([...this.records.values()].map((same) => same.map(contentOf)).sort())
  }

  /** @returns why the response is refused as a whole, or null */
  addListing({ items, text }: Data): Failed | null {
    for (const item of items) {
      const read = this.#add(item, text)
      if ('record' in read) this.listed.add(this.#idOf(read.record))
      else if (read.id !== null) this.listed.add(Number(read.id))
      else if (!read.fault.startsWith('userId is longer')) this.nameless += 1
    }
    return this.rejects.length > LIMITS.rejectedRecords ? failed('too_many_rejected') : null
  }

  /** The response to a request by ID. */
  addById(ids: readonly number[], response: ServiceResponse): void {
    if (response.kind === 'failed') {
      this.incomplete = response
      return
    }
    const { items, text } = response
    if (items.length !== ids.length || !items.every((item, at) => isResponseOf(item, ids[at]))) {
      this.incomplete = failed('answer_does_not_line_up')
      return
    }
    items.forEach((item, at) => {
      if (item.kind === 'null') return void this.gone.push(ids[at] as number)
      this.#foundById = true
      this.#add(item, text)
    })
  }

  #add(item: Json, text: string): Item<T> {
    const read = this.#read(item)
    const record = text.slice(item.start, Math.min(item.end, item.start + LIMITS.recordCharacters))
    if ('fault' in read) {
      this.isLacking = true
      this.rejectedRecords += 1
      this.rejects.push({ reason: read.fault, record })
      return read
    }
    for (const reason of read.reasons) this.rejects.push({ reason, record })
    const id = this.#idOf(read.record)
    const same = this.records.get(id) ?? []
    this.records.set(id, newest([...same, read.record]))
    if (same.length === 0) return read
    this.rejectedRecords += 1
    if (same.some((other) => contentOf(other) !== contentOf(read.record))) this.isLacking = true
    const name = typeof id === 'number' ? 'commentId' : 'userId'
    this.rejects.push({ reason: `${name} ${JSON.stringify(id)} is in the response twice`, record })
    return read
  }
}

function failed(errorStatus: string): Failed {
  return { kind: 'failed', httpStatus: 200, errorStatus }
}

/** What is stored of a record. Its author is a user besides. */
export function contentOf(record: ModelComment | ModelUser): string {
  return JSON.stringify({ ...record, author: null })
}

function isResponseOf(item: Json, id: number | undefined): boolean {
  if (item.kind === 'null') return true
  const own = item.kind === 'object' ? item.members.get('commentId') : undefined
  return own?.kind === 'number' && Number(own.text) === id
}

/** Of comments with one ID the newer stays; of equally old ones, and of users, any. */
function newest<T extends ModelComment | ModelUser>(records: readonly T[]): T[] {
  const time = (record: T) => ('lastUpdated' in record ? record.lastUpdated : null) ?? -Infinity
  const latest = Math.max(...records.map(time))
  return records.filter((record) => time(record) === latest)
}
