import { commitItem, isNarrowClaim } from '../database/claims.ts'
import type { Claim } from '../database/claims.ts'
import { readScopes } from '../database/scopes.ts'
import type { BatchScope } from '../database/scopes.ts'
import * as items from '../database/statements/items.ts'
import { CallError, DrainingError, RunStoppedError, WithdrawnError } from '../errors.ts'
import type { Operation } from '../errors.ts'
import { isForbidden } from '../service/errors.ts'
import { describeUnreachable } from '../service/reach.ts'
import { sleep } from '../service/wait.ts'
import type { Priority } from '../service/wait.ts'
import { describeSpan } from '../trace.ts'
import { ATTEMPTS_MAX, DoneScopes, failItem, startItem, SupersededError } from './claim.ts'
import { BatchCommits } from './commit/batch-commits.ts'
import type { RunRefusals, SyncContext } from './context.ts'
import type { Asking } from './fetch/comments.ts'
import { askScope } from './fetch/schedule.ts'
import { isScopeFault } from './isolate.ts'
import { areCredentialsRefused, refusedCredentials } from './run/credentials.ts'
import { canOthersCall, refusal, stopRun } from './run/settle.ts'

/** First and longest wait for another run that writes to the same batch. */
const OVERTAKEN_WAIT_MS = 500
const OVERTAKEN_WAIT_MAX_MS = 15_000

/**
 * Syncs the scopes of one batch: asks for each, many at a time, and commits the answers.
 * Safe to run again at any point: what is committed is not asked for again.
 * @throws DrainingError when the worker is stopping: what was answered is committed, the rest is pending
 */
export async function syncBatch(
  context: SyncContext,
  ids: { runId: string; itemId: number },
): Promise<void> {
  context.itemsInProgress.add(ids.itemId)
  try {
    await syncUntilDone(context, ids)
  } finally {
    context.itemsInProgress.delete(ids.itemId)
    // The run may be over, and settled by another process.
    if (context.itemsInProgress.size === 0) await context.sentCalls.write()
  }
}

async function syncUntilDone(
  context: SyncContext,
  ids: { runId: string; itemId: number },
): Promise<void> {
  for (let overtaken = 0; ; overtaken++) {
    const claim = await startItem(context, ids, { isAgain: overtaken > 0 })
    if (claim === null) return
    try {
      if (claim.attempts > ATTEMPTS_MAX) return await failItem(context, claim)
      return await syncClaimed(context, claim)
    } catch (error) {
      if (!(error instanceof SupersededError)) throw error
      context.log.info('another run writes to the same batch: asking again')
      await waitForOther(context, claim, overtaken)
    }
  }
}

/** The run that writes first goes on undisturbed: whoever is overtaken waits for it, longer each time. */
async function waitForOther(context: SyncContext, claim: Claim, overtaken: number): Promise<void> {
  const edgeMs = Math.min(OVERTAKEN_WAIT_MAX_MS, OVERTAKEN_WAIT_MS * 2 ** overtaken)
  const stopped = context.runSignals.signalOf(claim.runId)
  context.itemsOvertaken.add(claim.itemId)
  try {
    await sleep(Math.random() * edgeMs, AbortSignal.any([stopped, context.drained]))
  } finally {
    context.itemsOvertaken.delete(claim.itemId)
  }
}

async function syncClaimed(context: SyncContext, claim: Claim): Promise<void> {
  const { batchKey, operation } = claim
  if (batchKey === null || operation === null) throw new Error(`Item ${claim.itemId} has no batch.`)
  describeSpan({ 'collab_sync.operation': operation, 'collab_sync.batch.key': batchKey })
  const done = new DoneScopes(claim)
  const readingSince = performance.now()
  const scopes = (await readScopes(context.database, batchKey, operation)).filter(({ scopeNo }) =>
    done.isWanted(scopeNo),
  )
  const stopped = context.runSignals.signalOf(claim.runId)
  const readMs = performance.now() - readingSince
  const batch = new BatchInProgress(context, claim, { batchKey, operation }, done, stopped, readMs)
  await batch.sync(scopes)
}

function priorityOf(claim: Claim): Priority {
  return isNarrowClaim(claim) ? 'high' : 'normal'
}

/** One claimed batch: its scopes are asked for, many at a time, until all are or something ends it. */
class BatchInProgress {
  readonly #context: SyncContext
  readonly #claim: Claim
  readonly #where: { batchKey: number; operation: Operation }
  readonly #asking: Asking
  readonly #commits: BatchCommits
  /** The first error that ends the batch; the scopes still waiting are not asked. */
  #fatal: unknown = null
  readonly #ended = new AbortController()
  /** Ends what waits; calls in flight come to their end. */
  readonly #waitSignal: AbortSignal
  #stopping: Promise<unknown> | null = null
  #withdrawn: WithdrawnError | null = null

  constructor(
    context: SyncContext,
    claim: Claim,
    where: { batchKey: number; operation: Operation },
    done: DoneScopes,
    stopped: AbortSignal,
    databaseMs: number,
  ) {
    this.#context = context
    this.#claim = claim
    this.#where = where
    this.#waitSignal = AbortSignal.any([
      stopped,
      context.drained,
      context.storeSignal.signal,
      this.#ended.signal,
    ])
    const stats = { calls: 0, retries: 0, waitedMs: 0, waitedThrottledMs: 0, serviceMs: 0 }
    const onSent = (isRetry: boolean) => context.sentCalls.add(claim.runId, 1, isRetry ? 1 : 0)
    const priority = priorityOf(claim)
    const { lastErasure, writtenMember } = claim
    const call = { stats, onSent, signal: stopped, waitSignal: this.#waitSignal, priority }
    this.#asking = { ...context, lastErasure, writtenMember, call }
    this.#commits = new BatchCommits(context, {
      claim,
      where,
      done,
      record: (on, commit) => commitItem(on, { claim, ...commit }),
      asking: this.#asking,
      stats,
      databaseMs,
      onError: (error) => this.#end(error),
    })
  }

  /**
   * Asks for the scopes and commits what comes.
   * @throws SupersededError where another run wrote to the batch; DrainingError when the worker is stopping
   */
  async sync(scopes: readonly BatchScope[]): Promise<void> {
    try {
      await this.#askAll(scopes)
      await this.#commits.answered()
      if (this.#fatal !== null) return await this.#giveUp(this.#fatal)
      await this.#commits.commitEnd()
    } finally {
      this.#commits.close()
    }
  }

  async #askAll(scopes: readonly BatchScope[]): Promise<void> {
    const { scopePlaces } = this.#context
    try {
      const as = { signal: this.#waitSignal, priority: priorityOf(this.#claim) }
      await scopePlaces.each(scopes, as, (scope, triesAgain) => this.#syncScope(scope, triesAgain))
    } catch (error) {
      this.#end(error)
    }
  }

  async #syncScope(scope: BatchScope, triesAgain: () => void): Promise<void> {
    if (this.#fatal !== null) return
    const refusals = this.#context.runSignals.refusalsOf(this.#claim.runId)
    try {
      const { operation } = this.#where
      const result = await askScope(this.#asking, operation, scope, this.#claim.scope, triesAgain)
      if (!('incomplete' in result) || result.incomplete === null) refusals.answered()
      this.#commits.add(result)
    } catch (error) {
      if (error instanceof CallError && isForbidden(error) && error.attempts > 0)
        await this.#suspect(refusals, scope, error)
      const isFault = isScopeFault(error)
      if (isFault && error instanceof CallError)
        this.#commits.add(this.#commits.failed(scope, error))
      else if (isFault && !this.#waitSignal.aborted) this.#commits.addFault(scope, error)
      else this.#end(error)
    }
  }

  /** Ends the batch, and the run with it, where not the scope is refused but key and token. */
  async #suspect(refusals: RunRefusals, scope: BatchScope, error: CallError): Promise<void> {
    if (!refusals.refused(scope.organizationKey)) return
    try {
      const organizations = [...refusals.organizations]
      const { call } = this.#asking
      if (await areCredentialsRefused(this.#context, this.#claim, organizations, call))
        this.#end(refusedCredentials(error))
    } catch (failure) {
      refusals.startAgain()
      this.#end(failure)
    }
  }

  #end(error: unknown): void {
    this.#fatal ??= error
    this.#ended.abort(error)
    // No call of this process can succeed.
    if (error instanceof CallError) {
      this.#stopping ??= this.#stopOrWithdraw(error)
      // It is awaited when the calls in flight have ended; until then its failure must not be nobody's.
      this.#stopping.catch(() => {})
    }
  }

  /** Ends the run; where it is this worker that cannot reach the service, and others can, it is left to them. */
  async #stopOrWithdraw(error: CallError): Promise<void> {
    const { runId } = this.#claim
    if (error.kind === 'credentials') {
      await stopRun(this.#context, runId, 'failed', refusal(error), 'credentials')
    } else if (await canOthersCall(this.#context)) {
      this.#withdrawn = new WithdrawnError(describeUnreachable(error))
    } else {
      const problem = `${describeUnreachable(error)} ${error.message}`
      await stopRun(this.#context, runId, 'failed', problem, 'unreachable')
    }
  }

  /** What was answered before the end is true, and is kept where it can be, with the calls that were made. */
  async #giveUp(error: unknown): Promise<void> {
    if (error instanceof SupersededError) throw error
    await this.#stopping
    await this.#commits.commitRest()
    const { database, deadAfterS, workerId } = this.#context
    const { runId, itemId } = this.#claim
    if (this.#withdrawn !== null) {
      await items.giveBack.run(database, { runId, itemId, workerId })
      throw this.#withdrawn
    }
    if (this.#stopping !== null || error instanceof RunStoppedError) {
      await items.skip.run(database, { runId, itemId, deadAfterS })
      return
    }
    if (this.#context.drained.aborted) throw new DrainingError('The worker is stopping.')
    throw error
  }
}
