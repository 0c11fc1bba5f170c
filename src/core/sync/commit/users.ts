import { lock } from '../../database/locks.ts'
import type { Client } from '../../database/pool.ts'
import { storeListings } from '../../database/scopes.ts'
import type { KnownResponse } from '../../database/scopes.ts'
import * as held from '../../database/statements/held.ts'
import * as scopes from '../../database/statements/scopes.ts'
import * as users from '../../database/statements/users.ts'
import {
  joinMembers,
  leaveMembers,
  putUsers,
  readUsers,
  unlistUsers,
} from '../../database/users.ts'
import type { MemberKind, StoredUser, UserRow } from '../../database/users.ts'
import { SupersededError } from '../../run/claim.ts'
import { decideListings } from '../compare/listings.ts'
import type { ListingDecision } from '../compare/listings.ts'
import type { Committing, HeldScope } from '../context.ts'
import type { RecordsResult } from '../fetch/result.ts'
import { addListingUsers, rowsToPut } from './user-rows.ts'
import type { UserCandidates } from './user-rows.ts'

/** A full listing, and whom it removes. */
interface Listing extends ListingDecision {
  readonly isHeld: boolean
  /** True if a person refused this very response before. */
  readonly isRefused: boolean
  readonly leaving: readonly string[]
}

/**
 * Writes the users of responses, who joined their listings and who left. Adds to the counts.
 * @returns the listings whose removals are held
 * @throws SupersededError if a newer response about the organization's users is stored
 */
export async function commitUsers(
  client: Client,
  committing: Committing,
  results: readonly RecordsResult<'users'>[],
): Promise<HeldScope[]> {
  const { organizationKey } = (results[0] as RecordsResult).scope
  const { claim, counts } = committing
  const { at, runId, rules } = claim
  const { emails } = rules
  const candidates: UserCandidates = new Map()
  for (const result of results) addListingUsers(candidates, result)
  const touchHead = async () => {
    if (results.every(({ isListing }) => isListing)) return
    const head = { organizationKey, claimNo: claim.claimNo }
    if ((await scopes.touchHeadBatch.run(client, head)) === 0) throw new SupersededError()
  }
  const { stored, rows } = await usersToPut(client, organizationKey, candidates, touchHead)
  const decisions = await decideListings(client, results, { limit: committing.shrinkLimit, at })
  const listings = await holdSuspicious(client, committing, decisions)
  for (const kind of ['document', 'group'] as const)
    counts.membersRemoved += await writeMembers(client, kind, listings, at)
  const own = listings.find(({ result }) => result.scope.kind === 'organization')
  const left = await unlistUsers(client, organizationKey, own?.leaving ?? [], at)
  const put = await putUsers(client, organizationKey, rows, at, { emails, runId })
  if (own !== undefined && emails !== 'keep')
    await users.emptyAddresses.run(client, { organizationKey, emails })
  counts.usersRemoved += left
  counts.usersWritten += left + put
  await storeListings(client, committing.batchKey, listings.map(knownListingOf))
  const changedIds = new Set(rows.map(({ userId }) => userId))
  countRecords(committing, results, listings, stored, changedIds)
  return listings
    .filter(({ isHeld }) => isHeld)
    .map(({ result: { scope }, changes }) => ({ scope, missing: changes.missing.length }))
}

/** Notes suspicious listings as held, and closes what was held of the others. */
async function holdSuspicious(
  client: Client,
  committing: Committing,
  decisions: readonly ListingDecision[],
): Promise<Listing[]> {
  const acceptAfter = committing.heldAcceptAfter ?? Infinity
  const listings: Listing[] = []
  for (const decision of decisions) {
    const { changes, isSuspicious } = decision
    const repeats = isSuspicious ? await noteHeld(client, committing, decision) : 0
    const isRefused = repeats === null
    const isHeld = isSuspicious && !isRefused && repeats + 1 < acceptAfter
    const leaving = isHeld || isRefused ? [] : changes.missing
    listings.push({ ...decision, isHeld, isRefused, leaving })
  }
  const closed = listings.filter(({ isHeld, isRefused }) => !isHeld && !isRefused)
  if (closed.length > 0)
    await held.resolve.run(client, {
      kinds: closed.map(({ result }) => result.scope.kind),
      scopeKeys: closed.map(({ result }) => result.scope.key),
      resolutions: closed.map(({ isSuspicious }) => (isSuspicious ? 'repeated' : 'recovered')),
    })
  return listings
}

/** @returns how often the same response was held before; null if a person refused it */
async function noteHeld(
  client: Client,
  { claim, batchKey }: Committing,
  { result, changes, isLoss }: ListingDecision,
): Promise<number | null> {
  const { scope, contentDigest, records, rejectedIds } = result
  const { repeats } = await held.note.one(client, {
    runId: claim.runId,
    isScheduled: claim.trigger === 'schedule',
    batchKey,
    kind: scope.kind,
    scopeKey: scope.key,
    organizationId: scope.organizationId,
    documentId: scope.documentId,
    userGroupId: scope.organizationUserGroupId,
    contentDigest: contentDigest ?? Buffer.alloc(0),
    usersBefore: changes.before,
    missingUserIds: changes.missing,
    isLoss,
    usersReturned: new Set([...records.map(({ userId }) => userId), ...rejectedIds]).size,
  })
  return repeats
}

/** @returns how many left */
async function writeMembers(
  client: Client,
  kind: MemberKind,
  listings: readonly Listing[],
  at: Date,
): Promise<number> {
  const ofKind = listings.filter(({ result }) => result.scope.kind === kind)
  const membersOf = (listing: Listing, userIds: readonly string[]) =>
    userIds.map((userId) => ({ key: listing.result.scope.key, userId }))
  const joined = ofKind.flatMap((listing) => membersOf(listing, listing.changes.joined))
  const leaving = ofKind.flatMap((listing) => membersOf(listing, listing.leaving))
  await joinMembers(client, kind, joined, at)
  return leaveMembers(client, kind, leaving, at)
}

/** A held response must be read again, even if it comes with the same bytes. */
function knownListingOf({ result, isHeld, changes, leaving }: Listing): KnownResponse {
  const isStored = !isHeld && result.bodyDigest !== null
  return {
    scope: result.scope,
    recordCount: changes.before + changes.joined.length - leaving.length,
    bodyDigest: isStored ? result.bodyDigest : null,
    contentDigest: isStored ? result.contentDigest : null,
  }
}

/** Each record is counted by what it did to its own listing; the organization's also by the user's row. */
function countRecords(
  { counts }: Committing,
  results: readonly RecordsResult<'users'>[],
  listings: readonly Listing[],
  stored: ReadonlyMap<string, StoredUser>,
  changedIds: ReadonlySet<string>,
): void {
  for (const result of results) {
    const { scope, records, rejectedItems } = result
    const listing = listings.find((each) => each.result === result)
    let inserted = 0
    let updated = 0
    if (listing && scope.kind !== 'organization') {
      updated = listing.changes.cameBack
      inserted = listing.changes.joined.length - updated
    } else {
      for (const { userId } of records) {
        if (!stored.has(userId)) inserted += 1
        else if (changedIds.has(userId)) updated += 1
      }
    }
    counts.recordsReceived += records.length + rejectedItems
    counts.recordsInserted += inserted
    counts.recordsUpdated += updated
    counts.recordsUnchanged += records.length - inserted - updated
    counts.recordsRejected += rejectedItems
    counts.rejected += result.rejects.length
  }
}

/**
 * Finds the users to write, and locks the organization's users against other commits until this one ends. Without that lock,
 * two commits with a user in common could each wait for rows of the other. A commit that has no user to write takes no lock.
 * @param beforeLock called if there are users to write, for what a commit locks before them
 * @returns what is stored of the candidates, and those of them to write
 */
export async function usersToPut(
  client: Client,
  organizationKey: number,
  candidates: UserCandidates,
  beforeLock?: () => Promise<void>,
): Promise<{ stored: ReadonlyMap<string, StoredUser>; rows: readonly UserRow[] }> {
  const userIds = [...candidates.keys()]
  const stored = await readUsers(client, organizationKey, userIds)
  if (rowsToPut(candidates, stored).length === 0) return { stored, rows: [] }
  await beforeLock?.()
  await lock(client, 'users', organizationKey)
  // The commit that had the lock before may have written some of them.
  const nowStored = await readUsers(client, organizationKey, userIds)
  return { stored: nowStored, rows: rowsToPut(candidates, nowStored) }
}
