import { commitItem, isNarrowClaim } from '../database/claims.ts'
import { readScopes } from '../database/scopes.ts'
import type { BatchScope } from '../database/scopes.ts'
import * as items from '../database/statements/items.ts'
import { CallError, DrainingError, RunStoppedError, WithdrawnError } from '../../base/errors.ts'
import { isForbidden } from '../service/errors.ts'
import { describeUnreachable } from '../service/reach.ts'
import { sleep } from '../service/wait.ts'
import { describeSpan } from '../../base/trace.ts'
import { ATTEMPTS_MAX, batchOf, DoneScopes, startItem, SupersededError } from '../run/claim.ts'
import { ClaimedBatch } from './claimed-batch.ts'
import type { RunRefusals } from '../run/context.ts'
import type { RuledClaim, SyncContext } from './context.ts'
import { isScopeFault } from './isolate.ts'
import { areCredentialsRefused, refusedCredentials } from './credentials.ts'
import { canOthersCall, refusal, stopRun } from '../run/stop.ts'

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
    const ended = new AbortController()
    context.itemsInProgress.set(ids.itemId, ended)
    const started = await startItem(context, ids, { isAgain: overtaken > 0 })
    if (started === null) return
    const claim = { ...started, rules: await context.rules.of(started) }
    try {
      return await syncClaimed(context, claim, ended)
    } catch (error) {
      if (!(error instanceof SupersededError)) throw error
      context.log.info('another run writes to the same batch: asking again')
      await waitForOther(context, claim, overtaken)
    }
  }
}

/** The run that writes first goes on undisturbed: whoever is overtaken waits for it, longer each time. */
async function waitForOther(
  context: SyncContext,
  claim: RuledClaim,
  overtaken: number,
): Promise<void> {
  const edgeMs = Math.min(OVERTAKEN_WAIT_MAX_MS, OVERTAKEN_WAIT_MS * 2 ** overtaken)
  const stopped = context.runSignals.signalOf(claim.runId)
  context.itemsOvertaken.add(claim.itemId)
  try {
    await sleep(Math.random() * edgeMs, AbortSignal.any([stopped, context.drained]))
  } finally {
    context.itemsOvertaken.delete(claim.itemId)
  }
}

async function syncClaimed(
  context: SyncContext,
  claim: RuledClaim,
  ended: AbortController,
): Promise<void> {
  const { batchKey, operation } = batchOf(claim)
  describeSpan({ 'collab_sync.operation': operation, 'collab_sync.batch.key': batchKey })
  const readingSince = performance.now()
  const done = new DoneScopes(claim)
  const all = await readScopes(context.database, batchKey, operation)
  const scopes = all.filter(({ scopeNo }) => done.isWanted(scopeNo))
  const databaseMs = performance.now() - readingSince
  await new BatchInProgress(context, claim, ended, databaseMs).sync(scopes)
}

/** One batch of a run: its scopes are fetched, many at a time, until all are or something ends it. */
class BatchInProgress {
  readonly #context: SyncContext
  readonly #claim: RuledClaim
  readonly #batch: ClaimedBatch
  /** Aborts when no scope is to be fetched any more: with the first failure, and when PostgreSQL is lost to another batch. */
  readonly #ended: AbortController
  #failure: { readonly error: unknown } | null = null

  constructor(context: SyncContext, claim: RuledClaim, ended: AbortController, databaseMs: number) {
    this.#context = context
    this.#claim = claim
    this.#ended = ended
    const stopped = context.runSignals.signalOf(claim.runId)
    this.#batch = new ClaimedBatch(context, claim, {
      call: {
        signal: stopped,
        waitSignal: AbortSignal.any([stopped, context.drained, ended.signal]),
        priority: isNarrowClaim(claim) ? 'high' : 'normal',
      },
      record: (on, commit) => commitItem(on, { claim, ...commit }),
      databaseMs,
      onError: this.#end,
    })
  }

  /**
   * Fetches the scopes and commits the responses.
   * @throws SupersededError where another run wrote to the batch; DrainingError when the worker is stopping
   */
  async sync(scopes: readonly BatchScope[]): Promise<void> {
    const batch = this.#batch
    try {
      if (this.#claim.attempts > ATTEMPTS_MAX) this.#failAll(scopes)
      else
        await this.#context.scopeSlots
          .each(scopes, { ...batch.call, signal: batch.call.waitSignal }, (scope, triesAgain) =>
            this.#syncScope(scope, triesAgain).catch((error: unknown) => {
              // An error of the program over one response concerns that scope alone.
              if (isScopeFault(error) && !batch.call.waitSignal.aborted)
                batch.add({ outcome: 'fault', scope, error })
              else this.#end(error)
            }),
          )
          .catch(this.#end)
      await batch.answered()
      if (this.#failure !== null) return await this.#giveUp(this.#failure.error)
      await batch.commitEnd()
    } finally {
      batch.close()
    }
  }

  /** Workers have died of the item again and again: what is left of it fails, and the run can end. */
  #failAll(scopes: readonly BatchScope[]): void {
    const error = new CallError(
      `Workers took this batch up ${this.#claim.attempts} times without progress. Look for the cause in their logs, then run the failed scopes again.`,
      { kind: 'refused', errorStatus: 'worker_died' },
    )
    for (const scope of scopes) this.#batch.add({ outcome: 'failed', scope, error })
  }

  async #syncScope(scope: BatchScope, triesAgain: () => void): Promise<void> {
    this.#ended.signal.throwIfAborted()
    const refusals = this.#context.runSignals.refusalsOf(this.#claim.runId)
    const result = await this.#batch.fetch(scope, triesAgain)
    if (result.outcome === 'failed') {
      const { error } = result
      if (isForbidden(error) && error.attempts > 0) await this.#suspect(refusals, scope, error)
    } else if (result.outcome === 'unchanged' || (result.outcome !== 'fault' && !result.incomplete))
      refusals.answered()
    this.#batch.add(result)
  }

  /** Ends the batch, and the run with it, where not the scope is refused but key and token. */
  async #suspect(refusals: RunRefusals, scope: BatchScope, error: CallError): Promise<void> {
    if (!refusals.refused(scope.organizationKey)) return
    try {
      const organizations = [...refusals.organizations]
      if (await areCredentialsRefused(this.#context, this.#claim, organizations, this.#batch.call))
        this.#end(refusedCredentials(error))
    } catch (failure) {
      refusals.startAgain()
      this.#end(failure)
    }
  }

  readonly #end = (error: unknown): void => {
    this.#failure ??= { error }
    this.#ended.abort(error)
  }

  /** Ends the run; where it is this worker that cannot reach the service, and others can, it is left to them. */
  async #stopOrWithdraw(error: CallError): Promise<WithdrawnError | null> {
    const { runId } = this.#claim
    if (error.kind === 'credentials') {
      await stopRun(this.#context, runId, 'failed', refusal(error), {
        stoppedFor: 'credentials',
      })
      return null
    }
    const problem = describeUnreachable(error)
    if (await canOthersCall(this.#context)) return new WithdrawnError(problem)
    await stopRun(this.#context, runId, 'failed', `${problem} ${error.message}`, {
      stoppedFor: 'unreachable',
    })
    return null
  }

  /** What was answered before the end is true, and is kept where it can be, with the calls that were made. */
  async #giveUp(error: unknown): Promise<void> {
    if (error instanceof SupersededError) throw error
    // No call of this process can succeed.
    const withdrawn = error instanceof CallError ? await this.#stopOrWithdraw(error) : null
    await this.#batch.commitRest()
    const { database, deadAfterS, workerId } = this.#context
    const { runId, itemId } = this.#claim
    if (withdrawn !== null) {
      await items.giveBack.run(database, { runId, itemId, workerId })
      throw withdrawn
    }
    if (error instanceof CallError || error instanceof RunStoppedError) {
      await items.skip.run(database, { runId, itemId, deadAfterS })
      return
    }
    if (this.#context.drained.aborted) throw new DrainingError('The worker is stopping.')
    throw error
  }
}
