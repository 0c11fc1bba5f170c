import type { On } from '../../core/database/statement.ts'
import type { BatchScope } from '../../core/database/scopes.ts'
import * as refresh from '../../core/database/statements/refresh.ts'
import type { Priority, SharedRateLimit } from '../../core/service/wait.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import type { Clock } from './clock.ts'

/** What the polls of this process share. */
export interface Polling {
  readonly context: SyncContext
  /** The item that counts what this worker does today. */
  readonly item: { readonly runId: string; readonly itemId: number }
  /** Calls that all processes may send for refresh. */
  readonly budget: SharedRateLimit
  /** By which checks, and what they find, are dated. */
  readonly clock: Clock
  /** Scopes, by {@link nameOf}, whose failure has its row in sync.failures today: another failure of them writes nothing. */
  readonly failing: Set<string>
  /** Begins a poll when the budget allows its first call. Resolves when the next one may be begun. */
  readonly begin: (
    poll: () => Promise<void>,
    priority: Priority,
  ) => Promise<{ readonly ended: Promise<void> }>
  /** Called after each poll. */
  readonly polled: (outcome: Polled, organizationKey: number) => void
}

/** What came of a poll. */
export type Polled = 'found' | 'unchanged' | 'failed'

/** A scope among those of all kinds. */
export function nameOf({ kind, key }: Pick<BatchScope, 'kind' | 'key'>): string {
  return `${kind} ${key}`
}

/** Counts the polls of a page until it ends. */
export class Tally {
  calls = 0
  /** What the polls say of how often scopes of their class change: the changes, and the seconds since the polls before. */
  readonly learned = { found: 0, gapS: 0 }
  readonly #polls = { found: 0, unchanged: 0, failed: 0 }
  /** Of the polls that wrote nothing. */
  readonly #counts = {
    scopesSucceeded: 0,
    scopesFailed: 0,
    recordsUnchanged: 0,
    organizationsDone: 0,
    documentsDone: 0,
    groupsDone: 0,
    annotationsDone: 0,
  }

  /** @param gapMs since the poll before; null where it says nothing of the class */
  add(outcome: Polled, gapMs: number | null): void {
    this.#polls[outcome] += 1
    if (gapMs === null || outcome === 'failed') return
    this.learned.gapS += Math.max(0, gapMs / 1000)
    if (outcome === 'found') this.learned.found += 1
  }

  /** Counts a poll that wrote nothing: its scope is as it was, or fails as it did before. */
  addUnwritten({ kind, recordCount }: BatchScope, isFailed: boolean): void {
    if (isFailed) this.#counts.scopesFailed += 1
    else {
      this.#counts.scopesSucceeded += 1
      this.#counts.recordsUnchanged += recordCount
      this.#counts[`${kind}sDone`] += 1
    }
  }

  /** Adds the polls to those of the hour, and those that wrote nothing to the day. */
  async write(on: On, item: Polling['item'], of: number, at: Date): Promise<void> {
    const { found, failed, unchanged } = this.#polls
    const looks = found + failed + unchanged
    if (looks === 0) return
    await refresh.countLooks.run(on, { at, class: of, looks, calls: this.calls, found, failed })
    await refresh.addLooks.run(on, { ...item, ...this.#counts })
  }
}
