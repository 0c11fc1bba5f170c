import pLimit from 'p-limit'
import { unitsOf } from '../../../base/columns.ts'
import type { HeldMemory, MemoryBudget } from '../../service/memory.ts'
import type { FetchedResult } from '../fetch/result.ts'

/** Responses are committed at the latest when they are this old: what a killed worker has to fetch again. */
const COMMIT_AFTER_MS = 500
/** ... or when they hold this much, since comments wait for their commit as objects. */
const COMMIT_AFTER_RECORDS = 2000
/** What a response, and each of its records, takes on the heap beside its texts. */
const RECORD_BYTES = 650

/** The responses of one batch that wait for their commit. */
export class Uncommitted {
  readonly #memoryBudget: MemoryBudget
  readonly #unregister: () => void
  #memory: HeldMemory
  #results: FetchedResult[] = []
  #records = 0
  #oldestAt = 0

  /** @param commitSoon called while the memory budget is full: what this batch holds of it is to be committed at once */
  constructor(memoryBudget: MemoryBudget, commitSoon: () => void) {
    this.#memoryBudget = memoryBudget
    this.#memory = memoryBudget.open()
    this.#unregister = memoryBudget.whenFull(() => {
      if (this.#memory.bytes > 0) commitSoon()
    })
  }

  get isDue(): boolean {
    if (this.#results.length === 0) return false
    const isOld = performance.now() - this.#oldestAt >= COMMIT_AFTER_MS
    return isOld || this.#records >= COMMIT_AFTER_RECORDS
  }

  add(result: FetchedResult): void {
    if (this.#results.length === 0) this.#oldestAt = performance.now()
    this.#results.push(result)
    if (result.outcome !== 'records') return
    const { length: records } = result.records
    let bytes = (1 + records) * RECORD_BYTES
    for (const { texts } of result.records) bytes += unitsOf(texts)
    this.#records += records
    this.#memory.resize(this.#memory.bytes + bytes)
  }

  /** Takes all responses out, to commit them. The caller gives their memory back when the commit ends. */
  take(): { results: readonly FetchedResult[]; memory: HeldMemory } {
    const taken = { results: this.#results, memory: this.#memory }
    this.#results = []
    this.#records = 0
    this.#memory = this.#memoryBudget.open()
    return taken
  }

  /** Gives back what is not committed. To be called at the end of the batch; nothing may be added after it. */
  close(): void {
    this.#unregister()
    this.#memory.resize(0)
  }
}

/**
 * Commits with rows to write that one process makes at a time. One fills a core of PostgreSQL, and while it waits for a
 * disk or the network the next one writes; more of them only get in each other's way, at the end of the same table.
 */
export const commitSlots = pLimit(3)
