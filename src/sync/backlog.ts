import { WaitLine } from '../collab-api/wait-line.ts'

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
