import type { Client } from '../../database/pool.ts'
import { storeListings } from '../../database/scopes.ts'
import type { KnownResponse } from '../../database/scopes.ts'
import * as held from '../../database/statements/held.ts'
import { decideListings } from '../compare/listings.ts'
import type { DecidedListing, ListingDecision } from '../compare/listings.ts'
import type { Committing, HeldScope } from '../context.ts'
import type { RecordsResult } from '../fetch/result.ts'
import { moduleOf } from '../operation.ts'

/**
 * Writes the results of at least one scope, in the caller's transaction. Adds to the counts. A listing loses only what was decided
 * here, whatever its operation.
 * @returns the scopes whose removals are held
 * @throws SupersededError if a newer response is stored
 */
export async function commitRecords(
  client: Client,
  committing: Committing,
  results: readonly RecordsResult[],
): Promise<HeldScope[]> {
  const { batchKey, claim, operation, shrinkLimit: limit } = committing
  const { listed, idOf, commit } = moduleOf(operation)
  if (listed === null) {
    await commit(client, committing, results, [])
    return []
  }
  const of = { operation, listed, idOf }
  const decisions = await decideListings(client, results, of, { limit, at: claim.at })
  const listings = await holdSuspicious(client, committing, idOf, decisions)
  await commit(client, committing, results, listings)
  await storeListings(client, batchKey, listings.map(knownListingOf))
  return listings
    .filter(({ isHeld }) => isHeld)
    .map(({ result: { scope }, changes }) => ({ scope, missing: changes.missing.length }))
}

/** Notes suspicious listings as held, and closes what was held of the others. */
async function holdSuspicious(
  client: Client,
  committing: Committing,
  idOf: (record: RecordsResult['records'][number]) => unknown,
  decisions: readonly ListingDecision[],
): Promise<DecidedListing[]> {
  const acceptAfter = committing.heldAcceptAfter ?? Infinity
  const listings: (DecidedListing & { readonly isRefused: boolean })[] = []
  for (const decision of decisions) {
    const { changes, isSuspicious } = decision
    const repeats = isSuspicious ? await noteHeld(client, committing, idOf, decision) : 0
    const isRefused = repeats === null
    const isHeld = isSuspicious && !isRefused && repeats + 1 < acceptAfter
    const leaving = isHeld || isRefused ? [] : changes.missing
    listings.push({ ...decision, isHeld, isRefused, leaving })
  }
  const closed = listings.filter(({ isHeld, isRefused }) => !isHeld && !isRefused)
  if (closed.length > 0)
    await held.resolve.run(client, {
      operation: committing.operation,
      kinds: closed.map(({ result }) => result.scope.kind),
      scopeKeys: closed.map(({ result }) => result.scope.key),
      resolutions: closed.map(({ isSuspicious }) => (isSuspicious ? 'repeated' : 'recovered')),
    })
  return listings
}

/** @returns how often the same response was held before; null if a person refused it */
async function noteHeld(
  client: Client,
  { claim, batchKey, operation }: Committing,
  idOf: (record: RecordsResult['records'][number]) => unknown,
  { result, changes, isLoss }: ListingDecision,
): Promise<number | null> {
  const { scope, contentDigest, records, rejectedIds } = result
  const { repeats } = await held.note.one(client, {
    runId: claim.runId,
    isScheduled: claim.trigger === 'schedule',
    batchKey,
    operation,
    kind: scope.kind,
    scopeKey: scope.key,
    organizationId: scope.organizationId,
    documentId: scope.documentId,
    userGroupId: scope.organizationUserGroupId,
    contentDigest: contentDigest ?? Buffer.alloc(0),
    usersBefore: changes.before,
    missingUserIds: changes.missing,
    isLoss,
    usersReturned: new Set<unknown>([...records.map(idOf), ...rejectedIds]).size,
  })
  return repeats
}

/** A held response must be read again, even if it comes with the same bytes. */
function knownListingOf({ result, isHeld, changes, leaving }: DecidedListing): KnownResponse {
  const isStored = !isHeld && result.bodyDigest !== null
  return {
    scope: result.scope,
    recordCount: changes.before + changes.joined.length - leaving.length,
    bodyDigest: isStored ? result.bodyDigest : null,
    contentDigest: isStored ? result.contentDigest : null,
  }
}
