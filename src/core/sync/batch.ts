import { commitItem, isNarrowClaim } from '../database/claims.ts'
import type { BatchScope } from '../database/scopes.ts'
import * as items from '../database/statements/items.ts'
import { CallError, DrainingError, RunStoppedError, WithdrawnError } from '../../base/errors.ts'
import { describeUnreachable } from '../service/reach.ts'
import { sleep } from '../service/wait.ts'
import { ATTEMPTS_MAX, startItem, SupersededError } from '../run/claim.ts'
import { canOthersCall, refusal, stopRun } from '../run/stop.ts'
import { ClaimedBatch } from './claimed-batch.ts'
import type { RuledClaim, SyncContext } from './context.ts'
import { noteRefusals } from './credentials.ts'

/** Shortest and longest wait for another run that writes to the same batch. */
const SUPERSEDED_WAIT_MS = 500
const SUPERSEDED_WAIT_MAX_MS = 15_000

/**
 * Syncs the scopes of one batch: claims the item, fetches its scopes, many at a time, and commits the responses. If another
 * run writes to the batch meanwhile, it waits and claims the item again. Safe to repeat at any point: what is committed is not
 * fetched again.
 * @throws DrainingError when the worker is stopping: the responses so far are committed, the rest of the item is pending
 */
export async function syncBatch(
  context: SyncContext,
  ids: { runId: string; itemId: number },
): Promise<void> {
  const { itemsInProgress, log, rules, sentCalls } = context
  try {
    for (let superseded = 0; ; superseded++) {
      const ended = new AbortController()
      itemsInProgress.set(ids.itemId, ended)
      const started = await startItem(context, ids, { isAgain: superseded > 0 })
      if (started === null) return
      try {
        return await syncClaimed(context, { ...started, rules: await rules.of(started) }, ended)
      } catch (error) {
        if (!(error instanceof SupersededError)) throw error
        log.info('another run writes to the same batch: fetching its scopes again')
        itemsInProgress.set(ids.itemId, null)
        await waitForOther(context, ids.runId, superseded)
      }
    }
  } finally {
    itemsInProgress.delete(ids.itemId)
    // The run may be over, and finished by another process.
    if (itemsInProgress.size === 0) await sentCalls.write()
  }
}

/**
 * Fetches the scopes of one claim and commits the responses.
 * @param ended aborts when no further scope is to be fetched: with what ends the batch, or when the connection to PostgreSQL is lost
 */
async function syncClaimed(
  context: SyncContext,
  claim: RuledClaim,
  ended: AbortController,
): Promise<void> {
  const stopped = context.runSignals.signalOf(claim.runId)
  const waitSignal = AbortSignal.any([stopped, context.drained, ended.signal])
  const priority = isNarrowClaim(claim) ? 'high' : 'normal'
  const end = (error: unknown) => ended.abort(error)
  const batch = new ClaimedBatch(context, claim, {
    call: { signal: stopped, waitSignal, priority },
    record: (on, commit) => commitItem(on, { claim, ...commit }),
    onError: end,
  })
  try {
    const scopes = await batch.readScopes()
    if (claim.attempts > ATTEMPTS_MAX) failAll(batch, scopes, claim.attempts)
    else
      await context.scopeSlots
        .each(scopes, { signal: waitSignal, priority }, (scope, triesAgain) =>
          syncScope(context, batch, claim, scope, triesAgain).catch(end),
        )
        .catch(end)
    await batch.answered()
    if (ended.signal.aborted) await giveUp(context, batch, claim, ended.signal.reason)
    else await batch.commitEnd()
  } finally {
    batch.close()
  }
}

/** Workers have died of the item again and again: what is left of it fails, so that the run can end. */
function failAll(batch: ClaimedBatch, scopes: readonly BatchScope[], attempts: number): void {
  const error = new CallError(
    `Workers took this batch up ${attempts} times without progress. Look for the cause in their logs, then run the failed scopes again.`,
    { kind: 'refused', errorStatus: 'worker_died' },
  )
  for (const scope of scopes) batch.add({ outcome: 'failed', scope, error })
}

/** Fetches one scope, and has its result committed soon. @throws what ends the batch */
async function syncScope(
  context: SyncContext,
  batch: ClaimedBatch,
  claim: RuledClaim,
  scope: BatchScope,
  triesAgain: () => void,
): Promise<void> {
  batch.call.waitSignal.throwIfAborted()
  const refusals = context.runSignals.refusalsOf(claim.runId)
  const result = await batch.fetch(scope, triesAgain)
  batch.add(result)
  if (result.outcome === 'failed') await noteRefusals(context, claim, refusals, result, batch.call)
  else if (result.outcome === 'unchanged' || !result.incomplete) refusals.count = Infinity
}

/**
 * Ends a batch before all of its scopes are fetched. The responses so far are valid: they are committed if they can be, with the
 * counts of calls.
 */
async function giveUp(
  context: SyncContext,
  batch: ClaimedBatch,
  { runId, itemId }: RuledClaim,
  error: unknown,
): Promise<void> {
  if (error instanceof SupersededError) throw error
  // No call of this process can succeed.
  const withdrawn = error instanceof CallError ? await stopOrWithdraw(context, runId, error) : null
  await batch.commitRest()
  const { database, deadAfterS, workerId } = context
  if (withdrawn !== null) {
    await items.giveBack.run(database, { runId, itemId, workerId })
    throw withdrawn
  }
  if (error instanceof CallError || error instanceof RunStoppedError) {
    await items.skip.run(database, { runId, itemId, deadAfterS })
    return
  }
  if (context.drained.aborted) throw new DrainingError('The worker is stopping.')
  throw error
}

/** Stops the run. If only this worker cannot reach the service, the run is left to the others. */
async function stopOrWithdraw(
  context: SyncContext,
  runId: string,
  error: CallError,
): Promise<WithdrawnError | null> {
  const areCredentials = error.kind === 'credentials'
  const unreachable = describeUnreachable(error)
  if (!areCredentials && (await canOthersCall(context))) return new WithdrawnError(unreachable)
  const problem = areCredentials ? refusal(error) : `${unreachable} ${error.message}`
  await stopRun(context, runId, 'failed', problem, {
    stoppedFor: areCredentials ? 'credentials' : 'unreachable',
  })
  return null
}

/** The run that writes first continues undisturbed: the other one waits for it, longer each time. */
async function waitForOther(
  { drained, runSignals }: SyncContext,
  runId: string,
  superseded: number,
): Promise<void> {
  const edgeMs = Math.min(SUPERSEDED_WAIT_MAX_MS, SUPERSEDED_WAIT_MS * 2 ** superseded)
  const stopped = runSignals.signalOf(runId)
  await sleep(Math.random() * edgeMs, AbortSignal.any([stopped, drained]))
}
