import { isObject } from '../../../base/json.ts'
import type { Json } from '../../../base/json.ts'
import { OPERATIONS } from '../../../base/operations.ts'
import type { Operation, RecordName } from '../../../base/operations.ts'
import { isTooLongId } from '../../../schemas/check.ts'
import type { Client } from '../../database/pool.ts'
import type { Rules } from '../rules.ts'
import { checkRejects, processingFault, Received, REJECTS_MAX } from './received.ts'
import type { DataResponse, RedactItem, Reject } from './received.ts'

/** What comments and users have in common once they are read. */
export interface ReadRecord {
  readonly digest: Buffer
  /** Its index among the items of its response. */
  readonly index: number
  readonly lastUpdated?: string | null
}

/** Follows which members the records have; `src/features/observe` does. */
export interface RecordObserver {
  /** Notes the members of a record as it may be stored. */
  see(object: RecordName, record: unknown): void
  /**
   * Makes a commit, and lets it write the noted members where that is due.
   * @param isEnd whether it is the last one of a batch
   * @param commit gets the function that writes them, to be called last: what it locks is wanted by the commits of all processes
   */
  withCommit<T>(
    isEnd: boolean,
    commit: (write: (client: Client) => Promise<void>) => Promise<T>,
  ): Promise<T>
}

/** How the items of one operation are read. */
export interface RecordReader<Id, R> {
  readonly operation: Operation
  /** The member with the key. */
  readonly key: string
  /** Why an item has no usable key; null where it has one. */
  keyFault(item: unknown): string | null
  /** Reads an item with a usable key; members that cannot be stored are rejected. */
  read(item: Json, received: Received, writtenPath: readonly string[] | null): R
  /** The key of an item of which nothing else can be read; null where it is not known. */
  rawId(item: unknown): Id | null
}

/** What reading records depends on. */
export interface Reading {
  readonly rules: Pick<Rules, 'redact' | 'leaveOut' | 'writtenPath'>
  /** Left out where nothing is stored. */
  readonly observed?: Pick<RecordObserver, 'see'>
  /** Whether the text of each record is kept. */
  readonly keepsTexts?: boolean
}

/** Sorts the items of responses about one scope into records and rejects. */
export class Records<Id extends string | number, R extends ReadRecord> {
  readonly byId = new Map<Id, R>()
  readonly rejects: Reject[] = []
  /** Items that were rejected as a whole. */
  rejectedItems = 0
  /** Records that a response has and that cannot be stored. They do not count as missing. */
  readonly rejectedIds = new Set<Id>()
  /** Items without a readable key: each may be any record that is missing. */
  nameless = 0
  /** The text of each record, where that is kept. */
  readonly texts: Map<Id, string> | undefined
  readonly #reader: RecordReader<Id, R>
  readonly #redact: RedactItem
  readonly #leaveOut: RedactItem
  readonly #asStored: RedactItem
  readonly #writtenPath: readonly string[] | null
  readonly #observed: Pick<RecordObserver, 'see'> | undefined

  constructor(reader: RecordReader<Id, R>, organizationId: string, reading: Reading) {
    const { rules, observed, keepsTexts } = reading
    this.#reader = reader
    const redact = rules.redact(organizationId)?.[reader.operation] ?? null
    const leaveOut = rules.leaveOut[reader.operation]
    this.#redact = redact
    this.#leaveOut = leaveOut
    this.#asStored =
      redact === null || leaveOut === null ? (leaveOut ?? redact) : (item) => leaveOut(redact(item))
    this.#writtenPath = rules.writtenPath
    this.#observed = observed
    this.texts = keepsTexts ? new Map() : undefined
  }

  /** Reads all items of a response. @throws CallError where too many are rejected */
  addAll(response: DataResponse): void {
    const received = this.open(response)
    for (; received.index < received.length; received.index++) {
      this.add(received)
      if (this.rejects.length > REJECTS_MAX) break
    }
    checkRejects(this.rejects, received.length)
  }

  /** The items of a response, for `add`. */
  open(response: DataResponse): Received {
    return new Received(response, this.#redact, this.rejects, this.#asStored)
  }

  /** Reads one item. If that fails, only this item is rejected. */
  add(received: Received): void {
    const reader = this.#reader
    const before = this.rejects.length
    let id: Id | null = null
    try {
      const read = received.read()
      // Before fields are left out, which would else be reported as absent.
      this.#observed?.see(OPERATIONS[reader.operation].record, read)
      const item = this.#leaveOut === null ? read : this.#leaveOut(read)
      const fault = reader.keyFault(item)
      if (fault !== null) {
        // No stored record has an ID as long.
        const key = isObject(item) ? item[reader.key] : null
        if (typeof key !== 'string' || !isTooLongId(key)) this.nameless += 1
        return this.#rejectWhole(received, fault)
      }
      id = (item as Json)[reader.key] as Id
      this.#keep(id, reader.read(item as Json, received, this.#writtenPath), received)
    } catch (error) {
      this.rejects.length = before
      id ??= reader.rawId(received.raw)
      if (id === null) this.nameless += 1
      else this.rejectedIds.add(id)
      this.#rejectWhole(received, processingFault(error))
    }
  }

  /** What was read, as a part of the result of a scope. */
  result() {
    const { byId, rejects, rejectedItems, rejectedIds, texts } = this
    return { records: [...byId.values()], rejects, rejectedItems, rejectedIds, texts }
  }

  /** Keeps a record. If the response has two with one key, the newer is kept, in either order. */
  #keep(id: Id, record: R, received: Received): void {
    const twin = this.byId.get(id)
    const isBetter = twin === undefined || isBefore(twin, record)
    // With the text the digest is made too, so that its failure rejects only this record.
    if (isBetter && this.texts !== undefined && record.digest.length > 0)
      this.texts.set(id, received.text())
    if (isBetter) this.byId.set(id, record)
    if (twin === undefined) return
    const isEqual = twin.digest.equals(record.digest)
    const loser = isBetter ? twin : record
    // The key may be a person's, and a reason is shown as the problem of a run: it does not have it.
    const reason = `${this.#reader.key} is in the response twice, with ${isEqual ? 'equal' : 'different'} content`
    this.#rejectWhole(received, reason, !isEqual, loser.index)
  }

  /** @param isWhole false where nothing is lost with the item */
  #rejectWhole(received: Received, reason: string, isWhole = true, index?: number): void {
    received.reject(reason, isWhole, index)
    this.rejectedItems += 1
  }
}

/** Whether the second of two records with one key is to be stored. Users have no time: their digests decide. */
function isBefore(a: ReadRecord, b: ReadRecord): boolean {
  const [older, newer] = [a.lastUpdated ?? '', b.lastUpdated ?? '']
  return older === newer ? a.digest.compare(b.digest) > 0 : older < newer
}

/** Reads a stored record again from its JSON text. @throws where it has no usable key */
export function readAgain<Id, R>(reader: RecordReader<Id, R>, text: string): R {
  const received = new Received({ data: [JSON.parse(text)], dataText: `[${text}]` })
  const item = received.read()
  const fault = reader.keyFault(item)
  if (fault !== null) throw new Error(`A stored record cannot be read again: ${fault}.`)
  return reader.read(item as Json, received, null)
}
