import { commitItem, isScopedClaim } from '../database/claims.ts'
import type { BatchScope } from '../database/scopes.ts'
import * as items from '../database/statements/items.ts'
import { CallError, DrainingError, RunStoppedError, WithdrawnError } from '../../base/errors.ts'
import { describeUnreachable } from '../service/unreachable.ts'
import { sleep } from '../../base/abort.ts'
import { ATTEMPTS_MAX, startItem, SupersededError } from '../run/claim.ts'
import { canOthersCall, refusal, stopRun } from '../run/stop.ts'
import { ClaimedBatch } from './claimed-batch.ts'
import type { RuledClaim, SyncContext } from './context.ts'
import { noteRefusals } from './credentials.ts'

/** Upper limits of the first and of any random wait for another run that writes to the same batch. */
const SUPERSEDED_WAIT_MS = 500
const SUPERSEDED_WAIT_MAX_MS = 15_000

/**
 * Syncs the scopes of one batch: claims the item, fetches its scopes, many at a time, and commits the responses. If another
 * run writes to the batch meanwhile, it waits and claims the item again. Safe to repeat at any point: scopes that are committed
 * are not fetched again.
 * @throws DrainingError when the worker is stopping, WithdrawnError when only this worker cannot reach the service, or what made
 *   a commit fail. The rest of the item is then pending
 */
export async function syncBatch(
  context: SyncContext,
  ids: { runId: string; itemId: number },
): Promise<void> {
  const { drained, itemsInProgress, log, rules, runSignals, sentCalls } = context
  try {
    for (let timesSuperseded = 0; ; timesSuperseded++) {
      const ended = new AbortController()
      itemsInProgress.set(ids.itemId, ended)
      const started = await startItem(context, ids, timesSuperseded > 0)
      // It is done already, or its run is stopping.
      if (started === null) return
      try {
        return await syncClaimed(context, { ...started, rules: await rules.of(started) }, ended)
      } catch (error) {
        if (!(error instanceof SupersededError)) throw error
        log.info('another run writes to the same batch: claiming the item again')
        // The claim that commits first continues. This one waits with exponential backoff, with nothing to abort.
        itemsInProgress.set(ids.itemId, null)
        const limitMs = Math.min(SUPERSEDED_WAIT_MAX_MS, SUPERSEDED_WAIT_MS * 2 ** timesSuperseded)
        const signals = [runSignals.signalOf(ids.runId), drained]
        await sleep(Math.random() * limitMs, AbortSignal.any(signals))
      }
    }
  } finally {
    itemsInProgress.delete(ids.itemId)
    // This process may send no further call of the run, and another process may finish it: write the counts of calls now.
    if (itemsInProgress.size === 0) await sentCalls.write()
  }
}

/**
 * Fetches the scopes of one claim and commits the responses.
 * @param ended aborted, with the error as its reason, when no further scope is to be fetched. Another batch of this process aborts
 *   it too, when it loses the connection to PostgreSQL
 */
async function syncClaimed(
  context: SyncContext,
  claim: RuledClaim,
  ended: AbortController,
): Promise<void> {
  const stopped = context.runSignals.signalOf(claim.runId)
  // A call in flight ends early only if its run is stopped. A call that waits is given up for each of these reasons.
  const waitSignal = AbortSignal.any([stopped, context.drained, ended.signal])
  const priority = isScopedClaim(claim) ? 'high' : 'normal'
  const end = (error: unknown) => ended.abort(error)
  const { attempts } = claim
  const batch = new ClaimedBatch(context, claim, {
    call: { signal: stopped, waitSignal, priority },
    record: (on, commit) => commitItem(on, { claim, ...commit }),
    onError: end,
  })
  /** Fetches one scope, and has its result committed soon. @throws what ends the batch */
  const syncScope = async (scope: BatchScope, onFailedTry: () => void): Promise<void> => {
    waitSignal.throwIfAborted()
    const refusals = context.runSignals.refusalsOf(claim.runId)
    const result = await batch.sync(scope, { onFailedTry })
    if (result.outcome === 'failed') {
      await noteRefusals(context, claim, refusals, result, batch.call)
    } else if (result.outcome === 'unchanged' || !result.incomplete) {
      // The service returned a valid response for the scope: key and token are accepted, even if other scopes are refused.
      refusals.areCredentialsGood = true
    }
  }
  try {
    const wanted = await batch.readScopes()
    const isKnown = ({ hasOwnCheck }: BatchScope) => claim.isChecked && !hasOwnCheck
    for (const scope of wanted.filter(isKnown))
      batch.add({ outcome: 'unchanged', scope, records: 0 })
    const scopes = wanted.filter((scope) => !isKnown(scope))
    if (attempts > ATTEMPTS_MAX) {
      // Workers crashed or failed repeatedly on this item: its remaining scopes are committed as failed, so that the run can end.
      const error = new CallError(
        `Workers took this batch up ${attempts} times without progress. Look for the cause in their logs, then run the failed scopes again.`,
        { kind: 'refused', errorStatus: 'worker_died' },
      )
      for (const scope of scopes) batch.add({ outcome: 'failed', scope, error })
    } else {
      // An error of one scope ends the batch. `each` rejects when `waitSignal` aborts, after the scopes that it began have ended.
      await context.scopeSlots
        .each(scopes, { signal: waitSignal, priority }, (scope, onFailedTry) =>
          syncScope(scope, onFailedTry).catch(end),
        )
        .catch(end)
    }
    await batch.committed()
    if (ended.signal.aborted) await giveUp(context, batch, claim, ended.signal.reason)
    else await batch.commitAndFinish()
  } finally {
    batch.close()
  }
}

/**
 * Ends a batch before all of its scopes are fetched. The responses so far are valid and are committed, with the counts of calls.
 * If that commit fails too, their scopes are fetched again under the next claim.
 * @throws SupersededError at once: another claim has written to the batch, and nothing of this one may be committed
 */
async function giveUp(
  context: SyncContext,
  batch: ClaimedBatch,
  { runId, itemId }: RuledClaim,
  error: unknown,
): Promise<void> {
  if (error instanceof SupersededError) throw error
  // `ClaimedBatch.sync` returns the failures of a scope. A CallError that it throws concerns every call of this process.
  const withdrawn = error instanceof CallError ? await stopOrWithdraw(context, runId, error) : null
  await batch.commitRest()
  const { database, deadAfterS, workerId } = context
  if (withdrawn !== null) {
    // Another worker claims the item; this is no attempt of it.
    await items.giveBack.run(database, { runId, itemId, workerId })
    throw withdrawn
  }
  if (error instanceof CallError || error instanceof RunStoppedError) {
    // The run is stopping: nothing of it is to be fetched any more.
    await items.skip.run(database, { runId, itemId, deadAfterS })
    return
  }
  if (context.drained.aborted) throw new DrainingError('The worker is stopping.', { cause: error })
  throw error
}

/** Stops the run. If only this worker cannot reach the service, the run is left to the others. */
async function stopOrWithdraw(
  context: SyncContext,
  runId: string,
  error: CallError,
): Promise<WithdrawnError | null> {
  const isOfCredentials = error.kind === 'credentials'
  const unreachable = describeUnreachable(error)
  if (!isOfCredentials && (await canOthersCall(context))) return new WithdrawnError(unreachable)
  const problem = isOfCredentials ? refusal(error) : `${unreachable} ${error.message}`
  await stopRun(context, runId, 'failed', problem, {
    stoppedFor: isOfCredentials ? 'credentials' : 'unreachable',
  })
  return null
}
