import type { On } from '../../database/statement.ts'
import type { BatchScope } from '../../database/scopes.ts'
import * as refresh from '../../database/statements/refresh.ts'
import type { SharedRateLimit } from '../../service/wait.ts'
import type { SyncContext } from '../context.ts'
import type { Clock } from './clock.ts'

/** What looks of this process share. */
export interface Looking {
  readonly context: SyncContext
  /** The item that holds what this worker does today. */
  readonly item: { readonly runId: string; readonly itemId: number }
  /** Calls that all processes may send for refresh. */
  readonly budget: SharedRateLimit
  /** By which checks, and what they find, are dated. */
  readonly clock: Clock
  /** What failed today. */
  readonly noted: NotedFailures
  /** Called after each look. */
  readonly looked: (looked: Looked, organizationKey: number) => void
}

/** Begins a look when it may begin. */
export type BeginLook = (look: () => Promise<void>) => Promise<{ readonly ended: Promise<void> }>

/** What came of a look. */
export type Looked = 'found' | 'unchanged' | 'failed'

/** Scopes whose failure has its row in sync.failures today: that they fail still is no news. */
export class NotedFailures {
  readonly #scopes = new Set<string>()

  has({ kind, key }: Scope): boolean {
    return this.#scopes.has(`${kind} ${key}`)
  }

  /** Notes what came of a look that was committed. */
  note({ kind, key }: Scope, isFailed: boolean): void {
    if (isFailed && this.#scopes.size < NOTED_MAX) this.#scopes.add(`${kind} ${key}`)
    if (!isFailed) this.#scopes.delete(`${kind} ${key}`)
  }
}

type Scope = Pick<BatchScope, 'kind' | 'key'>
/** Beyond it some have a second row. */
const NOTED_MAX = 100_000

/** What came of the looks of a page, added up until it ends. */
export class LooksSoFar {
  calls = 0
  readonly #looks = { found: 0, unchanged: 0, failed: 0 }
  readonly #learned = { found: 0, gapS: 0 }
  /** Of those that wrote nothing. */
  readonly #counts = {
    scopesSucceeded: 0,
    scopesFailed: 0,
    recordsUnchanged: 0,
    organizationsDone: 0,
    documentsDone: 0,
    groupsDone: 0,
    annotationsDone: 0,
  }

  /** What the looks tell of how often threads of their class change. */
  get learned(): { readonly found: number; readonly gapS: number } {
    return this.#learned
  }

  /** @param gapMs since the look before; null where it tells nothing */
  learn(looked: Looked, gapMs: number | null): void {
    this.#looks[looked] += 1
    if (gapMs === null || looked === 'failed') return
    this.#learned.gapS += Math.max(0, gapMs / 1000)
    if (looked === 'found') this.#learned.found += 1
  }

  /** A look that found nothing and wrote nothing. */
  unchanged({ kind, recordCount }: BatchScope): void {
    this.#counts.scopesSucceeded += 1
    this.#counts.recordsUnchanged += recordCount
    this.#counts[`${kind}sDone`] += 1
  }

  /** A look that failed as the one before did, and wrote nothing. */
  failedAgain(): void {
    this.#counts.scopesFailed += 1
  }

  /** Adds them to the hour, and those that wrote nothing to the day. */
  async write(on: On, item: Looking['item'], of: number, at: Date): Promise<void> {
    const { found, failed, unchanged } = this.#looks
    const looks = found + failed + unchanged
    if (looks === 0) return
    await refresh.countLooks.run(on, { at, class: of, looks, calls: this.calls, found, failed })
    await refresh.addLooks.run(on, { ...item, ...this.#counts })
  }
}
