import pLimit from 'p-limit'
import type { LimitFunction } from 'p-limit'
import { unitsOf } from '../../columns.ts'
import type { Claim } from '../../database/claims.ts'
import type { Database } from '../../database/pool.ts'
import { WaitLine } from '../../service/wait.ts'
import type { AskedResult, ScopeResult } from '../fetch/result.ts'
import { NewThreads } from './new-threads.ts'

/** Answers are committed at the latest when they are this old: what a killed worker has to ask again. */
const COMMIT_AFTER_MS = 500
/** ... or when they hold this much, so that memory does not grow with the answers. */
const COMMIT_AFTER_RECORDS = 4000
/** What a record takes beside its texts. */
const RECORD_BYTES = 500

/** The answers of one batch that wait for their commit. */
export class Uncommitted {
  readonly #claim: Pick<Claim, 'at' | 'days'>
  readonly #backlog: BacklogPart
  #newThreads: NewThreads
  #answers: ScopeResult[] = []
  #records = 0
  #bytes = 0
  #oldestAt = 0

  /**
   * @param claim when what they bring was first seen, and the days of reports
   * @param commitSoon called when the process holds too much: what this batch has of it is to be committed at once
   */
  constructor(claim: Pick<Claim, 'at' | 'days'>, commitSoon: () => void) {
    this.#claim = claim
    this.#newThreads = new NewThreads(claim.at, claim.days)
    this.#backlog = backlog.open(() => {
      if (this.#bytes > 0) commitSoon()
    })
  }

  get isEmpty(): boolean {
    return this.#answers.length === 0
  }

  get isDue(): boolean {
    if (this.isEmpty) return false
    const isOld = performance.now() - this.#oldestAt >= COMMIT_AFTER_MS
    return isOld || this.#records >= COMMIT_AFTER_RECORDS
  }

  /** Null where one more answer may be asked for, else the wait for it. @throws the signal's reason when it aborts */
  room(waitSignal?: AbortSignal): Promise<void> | null {
    return this.#backlog.room(waitSignal)
  }

  add(asked: AskedResult): void {
    const rowBytesBefore = this.#newThreads.bytes
    const result = (asked.outcome === 'comments' && this.#newThreads.add(asked)) || asked
    const { records, bytes: heapBytes } = sizeOf(result)
    const bytes = heapBytes + this.#newThreads.bytes - rowBytesBefore
    if (this.isEmpty) this.#oldestAt = performance.now()
    this.#answers.push(result)
    this.#records += records
    this.#bytes += bytes
    this.#backlog.add(bytes)
  }

  /** Takes all answers out, to commit them. @returns them, and what to call when they need not be kept any more */
  take(): { answers: readonly ScopeResult[]; newThreads: NewThreads; over: () => void } {
    const [answers, newThreads] = [this.#answers, this.#newThreads]
    let bytes = this.#bytes
    this.#answers = []
    this.#newThreads = new NewThreads(this.#claim.at, this.#claim.days)
    this.#records = 0
    this.#bytes = 0
    const over = () => {
      this.#backlog.remove(bytes)
      bytes = 0
    }
    return { answers, newThreads, over }
  }

  close(): void {
    this.#backlog.close()
  }
}

/** What a result holds on the heap until it is committed, in records and about in bytes. */
function sizeOf(result: ScopeResult): { records: number; bytes: number } {
  if (result.outcome === 'unchanged' || result.outcome === 'failed') return { records: 0, bytes: 0 }
  if (result.outcome === 'new-thread') return { records: result.comments, bytes: RECORD_BYTES }
  const { length: records } = result.records
  let bytes = records * RECORD_BYTES
  if (result.outcome === 'comments') for (const { texts } of result.records) bytes += unitsOf(texts)
  return { records, bytes }
}

/** Records that were received and not committed hold no more than this in one process, but for answers in flight. */
const BYTES_MAX = 48_000_000

/** One batch's part of the backlog. */
export interface BacklogPart {
  /** Null where there is room for one more answer, else the wait for it. @throws the signal's reason when it aborts */
  room(signal?: AbortSignal): Promise<void> | null
  add(bytes: number): void
  remove(bytes: number): void
  /** Whatever the batch still holds is gone with it. */
  close(): void
}

/**
 * What all batches of this process have received and not committed. Where PostgreSQL is slower than the service it would grow
 * with every answer: from a limit on no further call is made until something is committed, and every batch commits, since
 * each could otherwise wait for another one's commit.
 */
export class Backlog {
  readonly #bytesMax: number
  readonly #commits = new Set<() => void>()
  readonly #line = new WaitLine()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Opens one batch's part. @param commit called when the backlog is full: commits what the batch has, at once */
  open(commit: () => void): BacklogPart {
    let held = 0
    const add = (bytes: number) => {
      held += bytes
      this.#bytes += bytes
      if (this.#isFull) for (const each of this.#commits) each()
      else while (this.#line.letOneGo());
    }
    this.#commits.add(commit)
    return {
      room: (signal) => (this.#isFull ? this.#line.join(signal) : null),
      add,
      remove: (bytes) => add(-bytes),
      close: () => {
        this.#commits.delete(commit)
        add(-held)
      },
    }
  }

  get #isFull(): boolean {
    return this.#bytes >= this.#bytesMax
  }
}

/** One for the process, as its memory is one. */
export const backlog = new Backlog(BYTES_MAX)

/**
 * Commits with rows to write that one process makes at a time. One fills a core of PostgreSQL, and while it waits for a
 * disk or the network the next one writes; more of them only get in each other's way, at the end of the same table.
 */
const COMMITS_AT_A_TIME = 3

const limits = new WeakMap<Database, LimitFunction>()

/** Runs `work` when a commit may begin, in the order in which they came. @throws what `work` throws */
export function inCommitSlot<T>(database: Database, work: () => Promise<T>): Promise<T> {
  let limit = limits.get(database)
  if (limit === undefined) limits.set(database, (limit = pLimit(COMMITS_AT_A_TIME)))
  return limit(work)
}
