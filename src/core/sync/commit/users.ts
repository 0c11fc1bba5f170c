import { lock } from '../../database/locks.ts'
import type { Client } from '../../database/pool.ts'
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
import type { DecidedListing } from '../compare/listings.ts'
import type { Committing } from '../context.ts'
import type { RecordsResult } from '../fetch/result.ts'
import { addListingUsers, rowsToPut } from './user-rows.ts'
import type { UserCandidates } from './user-rows.ts'

type Listing = DecidedListing<'users'>

/**
 * Writes the users of responses, who joined their listings and who left. Adds to the counts.
 * @throws SupersededError if a newer response about the organization's users is stored
 */
export async function commitUsers(
  client: Client,
  committing: Committing,
  results: readonly RecordsResult<'users'>[],
  listings: readonly Listing[],
): Promise<void> {
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
  for (const kind of ['document', 'group'] as const)
    counts.membersRemoved += await writeMembers(client, kind, listings, at)
  const own = listings.find(({ result }) => result.scope.kind === 'organization')
  const left = await unlistUsers(client, organizationKey, own?.leaving ?? [], at)
  const put = await putUsers(client, organizationKey, rows, at, { emails, runId })
  if (own !== undefined && emails !== 'keep')
    await users.emptyAddresses.run(client, { organizationKey, emails })
  counts.usersRemoved += left
  counts.usersWritten += left + put
  const changedIds = new Set(rows.map(({ userId }) => userId))
  countRecords(committing, results, listings, stored, changedIds)
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
