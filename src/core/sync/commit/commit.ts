import type { Counts } from '../../../schemas/counts.ts'
import type { ItemCommit } from '../../database/claims.ts'
import { insertFailures, noteRejected } from '../../database/failures.ts'
import type { ScopeFailure } from '../../database/failures.ts'
import { transaction } from '../../database/pool.ts'
import type { Client, Database } from '../../database/pool.ts'
import { keepCheck, setCheck } from '../../database/scopes.ts'
import { isFirstOfKind } from '../../../base/operations.ts'
import type { ScopeKind } from '../../../base/operations.ts'
import type { BatchScope } from '../../database/scopes.ts'
import type { On } from '../../database/statement.ts'
import * as failureStatements from '../../database/statements/failures.ts'
import * as scopes from '../../database/statements/scopes.ts'
import { SupersededError } from '../../run/claim.ts'
import type { Committing, HeldScope, RuledClaim } from '../context.ts'
import type { FetchedResult, RecordsResult } from '../fetch/result.ts'
import { digestOfRejected } from '../record/digest.ts'
import type { RecordObserver } from '../record/records.ts'
import { commitSlots } from './buffer.ts'
import { commitRecords } from './listings.ts'

/**
 * Writes the checkpoint and the counts of a commit, in one transaction with its responses.
 * @returns false if another claim has written to the batch: the commit must be rolled back
 */
export type RecordCommit = (on: On, commit: Omit<ItemCommit, 'claim'>) => Promise<boolean>

/**
 * Commits responses: their upserts, their retirements, the checkpoint and the counts in one transaction, or nothing.
 * @throws SupersededError if another claim has written to the batch, or the item is done already
 */
export async function commitResponses(
  database: Database,
  committing: Committing & {
    readonly claim: RuledClaim
    readonly record: RecordCommit
    readonly observed: RecordObserver
  },
  results: readonly FetchedResult[],
  end: Pick<ItemCommit, 'doneScopes' | 'isEnd'>,
): Promise<void> {
  const { counts, claim, record } = committing
  if (results.every((result) => isPlain(result, claim))) {
    countResults(committing, results, results)
    if (!(await record(database, { counts, ...end }))) throw new SupersededError()
    return
  }
  const before = { ...counts }
  const startedMs = performance.now()
  const commit = (note: (client: Client) => Promise<void>) =>
    transaction(database, async (client) => {
      Object.assign(counts, before) // A transaction that is tried again counts once.
      await writeResults(client, committing, results)
      // Without the statement that stores it.
      counts.databaseMs += Math.round(performance.now() - startedMs)
      if (!(await record(client, { counts, ...end }))) throw new SupersededError()
      await note(client)
    })
  await commitSlots(() => committing.observed.withCommit(end.isEnd, commit))
}

/**
 * Writes responses in the caller's transaction: records, retirements, failures, rejects and times of check; not the item.
 * Adds to the counts.
 * @returns the scopes whose removals are held
 * @throws SupersededError if another claim has written to the batch
 */
export async function writeResults(
  client: Client,
  committing: Committing,
  results: readonly FetchedResult[],
): Promise<readonly HeldScope[]> {
  const { claim, batchKey, operation, counts } = committing
  const { runId } = claim
  const { version, batchXmin } = await scopes.lockBatch.one(client, { batchKey, runId })
  if (version !== claim.claimNo && batchXmin !== claim.batchXmin) throw new SupersededError()
  const responses = results.filter((result) => result.outcome === 'records')
  const removals = responses.length === 0 ? [] : await commitRecords(client, committing, responses)
  const held = removals.map(({ scope }) => scope)
  const failures = failuresOf(results)
  await insertFailures(client, { runId, batchKey, operation }, failures)
  counts.recordsLost += await noteRejected(
    client,
    { runId, operation, isRefresh: claim.trigger === 'refresh' },
    responses.flatMap(({ scope, rejects }) =>
      rejects.map((reject) => {
        const digest = digestOfRejected(operation, scope, reject)
        return { scope, ...reject, digest }
      }),
    ),
    responses.filter(mayMissRejected).map(({ scope }) => scope),
  )
  const failed = failures.map(({ scope }) => scope)
  const notGood = new Set([...held, ...failed])
  const good = results.filter(({ scope }) => !notGood.has(scope))
  counts.scopesFailed += failures.length
  counts.scopesHeld += held.length
  countResults(committing, results, good)
  await noteChecks(client, committing, good, failed, held)
  return removals
}

/**
 * Notes when the scopes were last checked successfully, and which are failing. One row a batch stores it for all of them
 * (docs/decisions/2026-11-21-batches.md); only scopes that differ from their batch have a time of their own. A valid response
 * about a part of a scope ends a failure, and is no check of the whole. Everything that ends a failure passes here, so that its
 * rows in sync.failures are resolved here.
 */
async function noteChecks(
  client: Client,
  { claim, batchKey }: Pick<Committing, 'claim' | 'batchKey'>,
  succeeded: readonly FetchedResult[],
  failed: readonly BatchScope[],
  held: readonly BatchScope[],
): Promise<void> {
  const good = succeeded.map(({ scope }) => scope)
  const parts = new Set(succeeded.filter(isOfPart).map(({ scope }) => scope))
  const resolved = [...good, ...held].filter(({ isFailing }) => isFailing)
  if (resolved.length > 0)
    await failureStatements.resolve.run(client, {
      batchKey,
      scopeNumbers: resolved.map(({ scopeNo }) => scopeNo),
      runId: claim.runId,
    })
  const differing = good.filter(({ hasOwnCheck }) => hasOwnCheck)
  const { at } = claim
  const kept = [...held, ...differing.filter((scope) => parts.has(scope))]
  await keepCheck(client, batchKey, failed, { isFailing: true, at })
  await keepCheck(client, batchKey, kept, { isFailing: false, at })
  if (claim.onlyScopes === null) return setCheck(client, batchKey, differing, null)
  const whole = good.filter((scope) => !parts.has(scope))
  await setCheck(client, batchKey, whole, claim.claimedAt)
}

function isOfPart(result: FetchedResult): boolean {
  return result.outcome === 'records' && !result.isListing
}

/** True if the statement that records the item is all there is to write. */
function isPlain({ outcome, scope }: FetchedResult, { onlyScopes }: RuledClaim): boolean {
  return outcome === 'unchanged' && onlyScopes === null && !scope.hasOwnCheck
}

const DONE: Readonly<Record<ScopeKind, keyof Counts>> = {
  organization: 'organizationsDone',
  document: 'documentsDone',
  group: 'groupsDone',
  annotation: 'annotationsDone',
}

/** Counts unchanged records, and the scopes that succeeded. */
function countResults(
  { counts, operation }: Pick<Committing, 'counts' | 'operation'>,
  results: readonly FetchedResult[],
  good: readonly FetchedResult[],
): void {
  for (const result of results) {
    if (result.outcome !== 'unchanged') continue
    counts.recordsReceived += result.records
    counts.recordsUnchanged += result.records
  }
  for (const { scope } of good) {
    counts.scopesSucceeded += 1
    if (isFirstOfKind(operation, scope.kind)) counts[DONE[scope.kind]] += 1
  }
}

function failuresOf(results: readonly FetchedResult[]): ScopeFailure[] {
  return results.flatMap((result) => {
    if (result.outcome === 'failed') return [{ scope: result.scope, error: result.error }]
    if (result.outcome === 'unchanged' || result.incomplete === null) return []
    return [{ scope: result.scope, error: result.incomplete }]
  })
}

/** A full response to a scope without a digest, as scopes are of which something was rejected. */
function mayMissRejected({ isListing, mayLack, incomplete, scope }: RecordsResult): boolean {
  return isListing && !mayLack && incomplete === null && scope.bodyDigest === null
}
