import { commitItem, noCounts } from '../../database/claims.ts'
import type { Claim, Counts } from '../../database/claims.ts'
import type { BatchScope } from '../../database/scopes.ts'
import * as refresh from '../../database/statements/refresh.ts'
import { zoneDays } from '../../database/zone-days.ts'
import { CallError } from '../../errors.ts'
import type { Operation } from '../../errors.ts'
import type { CallStats } from '../../service/client.ts'
import type { Priority } from '../../service/wait.ts'
import { DoneScopes } from '../claim.ts'
import { BatchCommits } from '../commit/batch-commits.ts'
import type { Asking } from '../fetch/comments.ts'
import type { AskedResult } from '../fetch/result.ts'
import { askScope } from '../fetch/schedule.ts'
import { isScopeFault } from '../isolate.ts'
import type { Looking, LooksSoFar } from './looking.ts'

/** A claim, but for the batch that it is for. */
export type LookClaim = Omit<Claim, 'batchKey' | 'batchXmin' | 'operation' | 'onlyScopes'>

/** Draws a claim for looks that begin at `at`. */
export async function claimLooks({ context, item }: Looking, at: Date): Promise<LookClaim> {
  const { database } = context
  const drawn = await refresh.claim.one(database)
  return {
    ...drawn,
    ...item,
    kind: 'refresh',
    round: 0,
    attempts: 0,
    doneScopes: null,
    lastErasure: drawn.lastErasure ?? 0,
    runStatus: 'running',
    scope: {},
    stopping: null,
    trigger: 'refresh',
    claimedAt: at,
    at,
    days: await zoneDays(database, drawn.reportTimeZone),
  }
}

/** A batch as it is looked at under one claim: some of its scopes, or all. */
export class LookedAtBatch {
  readonly #looking: Looking
  readonly #soFar: LooksSoFar
  readonly #claim: Claim
  readonly #where: { readonly batchKey: number; readonly operation: Operation }
  readonly #asking: Asking
  readonly #commits: BatchCommits
  readonly #stats: CallStats = {
    calls: 0,
    retries: 0,
    waitedMs: 0,
    waitedThrottledMs: 0,
    serviceMs: 0,
  }
  #fatal: unknown = null
  #wrote = noCounts()

  constructor(
    looking: Looking,
    soFar: LooksSoFar,
    claim: Claim,
    where: { batchKey: number; operation: Operation; priority: Priority },
  ) {
    const { budget, context, item, signal } = looking
    const { lastErasure, writtenMember } = claim
    this.#looking = looking
    this.#soFar = soFar
    this.#claim = claim
    this.#where = where
    const onSent = (isRetry: boolean) => context.sentCalls.add(item.runId, 1, isRetry ? 1 : 0)
    const call = {
      stats: this.#stats,
      onSent,
      waitSignal: signal,
      beforeTry: (waitSignal?: AbortSignal) => budget.acquire(waitSignal, where.priority),
      priority: where.priority,
    }
    // The looks of a page may be half an hour apart: what they find is dated by each of them.
    const seenAt = () => looking.clock.about()
    this.#asking = { ...context, lastErasure, writtenMember, call, seenAt }
    this.#commits = new BatchCommits(context, {
      claim,
      where,
      done: new DoneScopes({ onlyScopes: null, doneScopes: null }),
      record: (on, commit) => this.#record(on, commit),
      asking: this.#asking,
      stats: this.#stats,
      databaseMs: 0,
      onError: (error) => (this.#fatal ??= error),
    })
  }

  /**
   * Asks for a scope; the budget was asked for its first call.
   * @throws what is no failure of the scope alone, such as refused credentials, or the end of the work
   */
  async ask(scope: BatchScope): Promise<AskedResult | { readonly fault: unknown }> {
    const { call } = this.#asking
    let isFirst = true
    const beforeTry = (waitSignal?: AbortSignal) => {
      if (!isFirst) return call.beforeTry?.(waitSignal) ?? null
      isFirst = false
      return null
    }
    try {
      const asking = { ...this.#asking, call: { ...call, beforeTry } }
      return await askScope(asking, this.#where.operation, scope, {})
    } catch (error) {
      if (!isScopeFault(error) || this.#looking.signal.aborted) throw error
      return error instanceof CallError ? this.#commits.failed(scope, error) : { fault: error }
    }
  }

  /** Takes an answer that is to be written, to be committed soon. */
  add(scope: BatchScope, result: AskedResult | { readonly fault: unknown }): void {
    if ('fault' in result) this.#commits.addFault(scope, result.fault)
    else this.#commits.add(result)
  }

  /**
   * Commits what is left, and that the batch was looked at as a whole where the claim is for all of it.
   * @returns what was written
   * @throws SupersededError where another claim wrote to the batch: its scopes are to be asked for again
   */
  async end(): Promise<Counts> {
    await this.#commits.answered()
    if (this.#fatal !== null) throw this.#fatal
    await this.#commits.commitEnd()
    return this.#wrote
  }

  /** Nothing more of it is committed. To be called at its end, whatever that was. */
  close(): void {
    this.#soFar.calls += this.#stats.calls
    this.#commits.close()
  }

  /** Where nothing changed the batch's row is all that is written; what looks that found nothing count is added at the end of their page. */
  async #record(
    ...[on, commit]: Parameters<ConstructorParameters<typeof BatchCommits>[1]['record']>
  ) {
    const { batchKey } = this.#where
    const { claimNo, batchXmin, claimedAt, onlyScopes } = this.#claim
    const checkedAt = commit.isEnd && onlyScopes === null ? claimedAt : null
    const { counts } = commit
    const isCounted = counts.scopesSucceeded + counts.scopesFailed + counts.scopesHeld > 0
    if (isCounted) {
      const part = { ...commit, claim: this.#claim, isEnd: false, doneScopes: '' }
      if (!(await commitItem(on, part))) return false
    }
    if (!isCounted || checkedAt !== null) {
      const written = await refresh.commitBatch.run(on, { batchKey, claimNo, batchXmin, checkedAt })
      if (written === 0) return false
    }
    this.#wrote = addedUp(this.#wrote, counts)
    return true
  }
}

function addedUp(one: Counts, other: Counts): Counts {
  const sum = { ...one }
  for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += other[name]
  return sum
}
