import { insertFailures } from '../database/failures.ts'
import { commitItem, noCounts } from '../database/claims.ts'
import type { Claim } from '../database/claims.ts'
import { transaction } from '../database/pool.ts'
import { keepCheck, readScopes } from '../database/scopes.ts'
import { CallError } from '../errors.ts'
import { DoneScopes } from './done-scopes.ts'
import { SupersededError } from './superseded.ts'
import type { SyncContext } from './sync-context.ts'

/**
 * Gives up an item that workers have died of again and again: what is left of it fails, and the run can end.
 * @throws SupersededError where another claim has written to the batch
 */
export async function failItem(context: SyncContext, claim: Claim): Promise<void> {
  const { batchKey, operation, runId } = claim
  if (batchKey === null || operation === null) return
  const done = new DoneScopes(claim)
  const scopes = (await readScopes(context.database, batchKey, operation)).filter(({ scopeNo }) =>
    done.isWanted(scopeNo),
  )
  const error = new CallError(
    `Workers took this batch up ${claim.attempts} times without progress. Look for the cause in their logs, then run the failed scopes again.`,
    { kind: 'refused', errorStatus: 'worker_died' },
  )
  const counts = { ...noCounts(), scopes_failed: scopes.length }
  await transaction(context.database, async (client) => {
    const failures = scopes.map((scope) => ({ scope, error }))
    await insertFailures(client, { runId, batchKey, operation }, failures)
    await keepCheck(client, scopes)
    const isCommitted = await commitItem(client, {
      claim,
      counts,
      doneScopes: done.bitsWith(scopes.map(({ scopeNo }) => scopeNo)),
      isEnd: true,
    })
    if (!isCommitted) throw new SupersededError()
  })
}
