import { sleep } from '../collab-api/wait.ts'
import type { Claim } from '../database/claims.ts'
import { readScopes } from '../database/scopes.ts'
import { describeSpan } from '../trace.ts'
import { DoneScopes } from './done-scopes.ts'
import { failItem } from './fail-item.ts'
import { SupersededError } from './superseded.ts'
import { ATTEMPTS_MAX, takeUp } from './take-up.ts'
import type { SyncContext } from './sync-context.ts'
import { BatchInHand } from './batch-in-hand.ts'

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
  context.itemsInHand.add(ids.itemId)
  try {
    await syncUntilDone(context, ids)
  } finally {
    context.itemsInHand.delete(ids.itemId)
    // The run may be over, and settled by another process.
    if (context.itemsInHand.size === 0) await context.sentCalls.write()
  }
}

async function syncUntilDone(
  context: SyncContext,
  ids: { runId: string; itemId: number },
): Promise<void> {
  for (let overtaken = 0; ; overtaken++) {
    const claim = await takeUp(context, ids, { isAgain: overtaken > 0 })
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
  await sleep(Math.random() * edgeMs, AbortSignal.any([stopped, context.drained]))
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
  const batch = new BatchInHand(context, claim, { batchKey, operation }, done, stopped, readMs)
  await batch.sync(scopes)
}
