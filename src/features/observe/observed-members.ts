import { isObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import { pathName } from '../../base/member-path.ts'
import { OPERATION_NAMES, OPERATIONS } from '../../base/operations.ts'
import type { RecordName } from '../../base/operations.ts'
import { codeOf, isDataFault } from '../../core/database/connection-errors.ts'
import { savepoint } from '../../core/database/pool.ts'
import type { Client } from '../../core/database/pool.ts'
import * as statements from '../../core/database/statements/observed.ts'
import type { RecordObserver } from '../../core/sync/record/records.ts'
import { isStorable } from '../../schemas/check.ts'

/** A row of `collab_store.observed_members`. */
interface ObservedMember {
  readonly object: RecordName
  readonly path: readonly string[]
  readonly types: readonly string[]
}

/** The keys of an object with more different ones count as one path, because they may be IDs. */
const KEYS_MAX = 50
/** Nesting levels. */
const DEPTH_MAX = 20
/** A longer name may be an ID. */
const NAME_UNITS_MAX = 100
/** Paths per process; the table has at most 2,000. */
const PATHS_MAX = 4_000
/** Known fields are written after this many records. */
const COUNT_AFTER_RECORDS = 1_000

const TYPES = ['array', 'boolean', 'null', 'number', 'object', 'string'] as const
const [ARRAY, NULL, OBJECT] = [1, 4, 16]
const TYPE_OF: Readonly<Record<string, number>> = { boolean: 2, number: 8, string: 32 }

class Path {
  readonly children = new Map<string, Path>()
  /** Bits of TYPES. */
  types = 0
  /** Number of records not yet written. */
  records = 0
  /** The last record that was counted. */
  lastRecord = 0
  isCrowded = false
  /** Whether this process has written it. An erasure may have deleted the row since, if its path contains an ID. */
  isWritten = false
}

/**
 * Counts the fields of the records that this process reads, with their types. Commits write them: when there is a new one, after
 * 1,000 records, and at the end of each batch.
 */
export class ObservedMembers implements RecordObserver {
  /** Trees of the fields. */
  readonly #roots = new Map<RecordName, Path>(
    OPERATION_NAMES.map((operation) => [OPERATIONS[operation].record, new Path()]),
  )
  readonly #log: Log
  #paths = 0
  #recordNo = 0
  /** Number of new fields and types so far, and at the last commit that wrote them. */
  #news = 0
  #writtenNews = 0
  /** Whether a commit is writing fields; only one does at a time. */
  #isWriting = false

  constructor(log: Log) {
    this.#log = log
  }

  see(object: RecordName, record: unknown): void {
    if (!isObject(record)) return
    this.#recordNo += 1
    this.#see(this.#roots.get(object) ?? null, record, 0)
  }

  async withCommit<T>(
    isEnd: boolean,
    commit: (write: (client: Client) => Promise<void>) => Promise<T>,
  ): Promise<T> {
    if (!this.#isDue(isEnd)) return commit(async () => {})
    this.#isWriting = true
    let written = () => {}
    try {
      const result = await commit(async (client) => {
        written = await this.#write(client)
      })
      written()
      return result
    } finally {
      this.#isWriting = false
    }
  }

  #isDue(isEnd: boolean): boolean {
    const records = this.#recordsOfEach().reduce((sum, each) => sum + each, 0)
    if (records === 0 || this.#isWriting) return false
    return isEnd || this.#news > this.#writtenNews || records >= COUNT_AFTER_RECORDS
  }

  /** Records of each object that are not written yet. */
  #recordsOfEach(): number[] {
    return [...this.#roots.values()].map(({ records }) => records)
  }

  /** Does not fail the commit if PostgreSQL rejects the data. @returns a function to call after the commit */
  async #write(client: Client): Promise<() => void> {
    let written = () => {}
    const failure = await savepoint(client, async () => {
      if (!(await statements.lock.one(client)).isLocked) return
      this.#learn((await statements.read.all(client)) as ObservedMember[])
      const pending = this.#pending()
      if (pending.crowded.length > 0)
        await statements.collapse.run(client, { crowded: JSON.stringify(pending.crowded) })
      await statements.count.run(client, {
        objects: [...this.#roots.keys()],
        records: this.#recordsOfEach(),
        members: JSON.stringify(pending.members),
      })
      written = pending.written
    })
    if (failure === null) return written
    if (!isDataFault(failure.error)) throw failure.error
    // Only the code: the message may quote names of fields, which may be IDs.
    const sqlState = codeOf(failure.error)
    this.#log.warn({ sqlState }, 'the fields of records could not be written')
    return written
  }

  /** Adds the fields in the table, because the limit of keys applies to those of all processes together. */
  #learn(rows: readonly ObservedMember[]): void {
    for (const { object, path, types } of rows) {
      let at = this.#roots.get(object) ?? null
      for (const name of path) at = at && this.#child(at, name)
      for (const type of types) if (at !== null) at.types |= 1 << TYPES.indexOf(type as never)
    }
  }

  /** Fields that are not written yet. They stay pending until `written` is called. */
  #pending() {
    const news = this.#news
    const read: (readonly [Path, number])[] = []
    const members: (ObservedMember & { records: number; is_new: boolean })[] = []
    const crowded: Pick<ObservedMember, 'object' | 'path'>[] = []
    const walk = (object: RecordName, at: Path, path: string[]) => {
      const { records, isWritten } = at
      if (at.isCrowded) crowded.push({ object, path })
      if (records > 0) read.push([at, records])
      if (records > 0 && path.length > 0) {
        const types = TYPES.filter((_, index) => at.types & (1 << index))
        members.push({ object, path, types, records, is_new: !isWritten })
      }
      for (const [name, child] of at.children) walk(object, child, [...path, name])
    }
    for (const [object, root] of this.#roots) walk(object, root, [])
    const written = () => {
      for (const [at, records] of read) {
        at.records -= records
        at.isWritten = true
      }
      // Fields found since are still new.
      this.#writtenNews = news
    }
    return { members, crowded, written }
  }

  #see(at: Path | null, value: unknown, depth: number): void {
    if (at === null) return
    const type = typeOf(value)
    if ((at.types & type) === 0) {
      at.types |= type
      this.#news += 1
    }
    if (at.lastRecord !== this.#recordNo) {
      at.lastRecord = this.#recordNo
      at.records += 1
    }
    if (depth === DEPTH_MAX) return
    if (type === OBJECT) {
      const members = value as Record<string, unknown>
      for (const name in members) {
        const known = at.children.get(name)
        this.#see(known ?? this.#child(at, nameOf(name)), members[name], depth + 1)
      }
    } else if (type === ARRAY) {
      const items = value as unknown[]
      if (items.length === 0) return
      const of = this.#child(at, '[]')
      for (const item of items) this.#see(of, item, depth + 1)
    }
  }

  /** Null if there are too many paths. */
  #child(at: Path, name: string): Path | null {
    const known = at.children.get(at.isCrowded && name !== '[]' ? '*' : name)
    if (known !== undefined) return known
    if (this.#paths === PATHS_MAX) return null
    this.#paths += 1
    const items = at.children.get('[]')
    const keys = at.children.size - (items === undefined ? 0 : 1)
    const isCrowding = name === '*' || (keys >= KEYS_MAX && name !== '[]')
    if (isCrowding) {
      // From now on, one path counts for all keys. `collapse.sql` does the same in the table.
      at.isCrowded = true
      at.children.clear()
      if (items !== undefined) at.children.set('[]', items)
      this.#news += 1
    }
    const child = new Path()
    at.children.set(isCrowding ? '*' : name, child)
    return child
  }
}

/** Escapes names that have a meaning in paths. */
function nameOf(name: string): string {
  return name.length > NAME_UNITS_MAX || !isStorable(name) ? '…' : pathName(name)
}

function typeOf(value: unknown): number {
  if (value === null) return NULL
  if (typeof value === 'object') return Array.isArray(value) ? ARRAY : OBJECT
  return TYPE_OF[typeof value] ?? 0
}
