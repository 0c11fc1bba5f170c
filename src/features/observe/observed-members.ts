import { isObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import { codeOf, isDataFault } from '../../core/database/connection-errors.ts'
import { savepoint } from '../../core/database/pool.ts'
import type { Client } from '../../core/database/pool.ts'
import * as statements from '../../core/database/statements/observed.ts'
import type { ObservedObject, RecordObserver } from '../../core/sync/record/records.ts'
import { isStorable } from '../../documents/check.ts'

/** A member of records by its path, as `collab_store.observed_members` has it. */
interface ObservedMember {
  readonly object: ObservedObject
  readonly path: readonly string[]
  readonly types: readonly string[]
}

/** An object with more different keys counts as one path: its keys may be IDs. */
const KEYS_MAX = 50
/** Containers within each other. */
const DEPTH_MAX = 20
/** A longer name may be an ID. */
const NAME_UNITS_MAX = 100
/** Paths that a process remembers; the table has 2,000. */
const PATHS_MAX = 4_000
/** Records after which their members are counted, where none is new. */
const COUNT_AFTER_RECORDS = 1_000

const TYPES = ['array', 'boolean', 'null', 'number', 'object', 'string'] as const
const [ARRAY, NULL, OBJECT] = [1, 4, 16]
const TYPE_OF: Readonly<Record<string, number>> = { boolean: 2, number: 8, string: 32 }

class Path {
  readonly children = new Map<string, Path>()
  /** Bits of TYPES. */
  types = 0
  /** Records that are not written. */
  records = 0
  /** The record that was counted last. */
  lastRecord = 0
  isCrowded = false
  /** Whether this process has written it. Its row may be gone since: then a person is erased whose ID is in the path. */
  isWritten = false
}

/**
 * The members of the records that this process reads: which there are, of which types, and in how many records. They are
 * written with a commit: where one is new, after 1,000 records, and at the end of each batch.
 */
export class ObservedMembers implements RecordObserver {
  /** The records themselves, and below them their members. */
  readonly #roots: Readonly<Record<ObservedObject, Path>> = {
    comment: new Path(),
    user: new Path(),
  }
  readonly #log: Log
  #paths = 0
  #recordNo = 0
  /** How often something new came up, and how often until the last commit that wrote members. */
  #news = 0
  #writtenNews = 0
  /** While a commit writes what is pending: one at a time. */
  #isWriting = false

  constructor(log: Log) {
    this.#log = log
  }

  see(object: ObservedObject, record: unknown): void {
    if (!isObject(record)) return
    this.#recordNo += 1
    this.#see(this.#roots[object], record, 0)
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
    const records = this.#roots.comment.records + this.#roots.user.records
    if (records === 0 || this.#isWriting) return false
    return isEnd || this.#news > this.#writtenNews || records >= COUNT_AFTER_RECORDS
  }

  /** Fails no commit for what the members are like. @returns to be called when it is committed */
  async #write(client: Client): Promise<() => void> {
    let written = () => {}
    const failure = await savepoint(client, async () => {
      if (!(await statements.lock.one(client)).isLocked) return
      this.#learn((await statements.read.all(client)) as ObservedMember[])
      const pending = this.#pending()
      const { comment, user } = this.#roots
      if (pending.crowded.length > 0)
        await statements.collapse.run(client, { crowded: JSON.stringify(pending.crowded) })
      await statements.count.run(client, {
        comments: comment.records,
        users: user.records,
        members: JSON.stringify(pending.members),
      })
      written = pending.written
    })
    if (failure === null) return written
    if (!isDataFault(failure.error)) throw failure.error
    // Its code, and not the error, which may quote names of members: they may be IDs.
    const sqlState = codeOf(failure.error)
    this.#log.warn({ sqlState }, 'the members of records could not be noted')
    return written
  }

  /** Learns what the table has: other processes may have found keys that are too many with those of this one. */
  #learn(rows: readonly ObservedMember[]): void {
    for (const { object, path, types } of rows) {
      let at: Path | null = this.#roots[object]
      for (const name of path) at = at && this.#child(at, name)
      for (const type of types) if (at !== null) at.types |= 1 << TYPES.indexOf(type as never)
    }
  }

  /** What is not written yet. It stays pending until `written` is called. */
  #pending() {
    const news = this.#news
    const read: (readonly [Path, number])[] = []
    const members: (ObservedMember & { records: number; is_new: boolean })[] = []
    const crowded: Pick<ObservedMember, 'object' | 'path'>[] = []
    const walk = (object: ObservedObject, at: Path, path: string[]) => {
      const { records, isWritten } = at
      if (at.isCrowded) crowded.push({ object, path })
      if (records > 0) read.push([at, records])
      if (records > 0 && path.length > 0) {
        const types = TYPES.filter((_, index) => at.types & (1 << index))
        members.push({ object, path, types, records, is_new: !isWritten })
      }
      for (const [name, child] of at.children) walk(object, child, [...path, name])
    }
    for (const object of ['comment', 'user'] as const) walk(object, this.#roots[object], [])
    const written = () => {
      for (const [at, records] of read) {
        at.records -= records
        at.isWritten = true
      }
      // What came up since is new still.
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

  /** Null where there are too many paths. */
  #child(at: Path, name: string): Path | null {
    const known = at.children.get(at.isCrowded && name !== '[]' ? '*' : name)
    if (known !== undefined) return known
    if (this.#paths === PATHS_MAX) return null
    this.#paths += 1
    const items = at.children.get('[]')
    const keys = at.children.size - (items === undefined ? 0 : 1)
    const isCrowding = name === '*' || (keys >= KEYS_MAX && name !== '[]')
    if (isCrowding) {
      // One path stands for all keys, and counts from now on; `collapse.sql` does the same to the table.
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

/** The name in a path; one of ours is written as it is shown. */
function nameOf(name: string): string {
  if (name === '*' || name === '[]') return JSON.stringify(name)
  return name.length > NAME_UNITS_MAX || !isStorable(name) ? '…' : name
}

function typeOf(value: unknown): number {
  if (value === null) return NULL
  if (typeof value === 'object') return Array.isArray(value) ? ARRAY : OBJECT
  return TYPE_OF[typeof value] ?? 0
}
