import { transaction } from '../database/pool.ts'
import type { Client } from '../database/pool.ts'
import { storeAnswers } from '../database/scopes.ts'
import type { RowOf } from '../database/statement.ts'
import * as holds from '../database/statements/held.ts'
import * as scopes from '../database/statements/scopes.ts'
import * as users from '../database/statements/users.ts'
import { leaveMembers, readMembers, unlistUsers } from '../database/users.ts'
import { resolveHeld } from '../database/waiting.ts'
import type { AcceptedHeld } from '../documents/waiting.ts'
import { UsageError } from '../errors.ts'
import type { SyncContext } from './context.ts'

type HeldPlace = RowOf<typeof holds.ofRun>
type TakenHold = RowOf<typeof holds.take>

/**
 * Applies what a run held: the users whom a listing suddenly lacked are taken out of it, if they are in it still. Each
 * listing in a transaction of its own, so that what was applied stays if a later one fails; safe to repeat.
 * @param of.organizationId null or left out for every organization
 * @throws UsageError where nothing is held
 */
export async function acceptHeld(
  context: Pick<SyncContext, 'database'>,
  of: { runId: string; organizationId?: string | null },
): Promise<AcceptedHeld> {
  const { runId, organizationId = null } = of
  const places = await holds.ofRun.all(context.database, { runId, organizationId })
  if (places.length === 0) {
    const where =
      organizationId === null ? '' : ` in organization ${JSON.stringify(organizationId)}`
    throw new UsageError(`Nothing that run ${runId} held${where} is waiting to be accepted.`)
  }
  let accepted = 0
  let removed = 0
  for (const place of places) {
    const left = await acceptListing(context, place, runId)
    if (left === null) continue
    accepted += 1
    removed += left
  }
  return { runId, accepted, removed }
}

/**
 * Applies the removals of one held listing; see {@link acceptHeld}.
 * @param runId the run that last saw its answer
 * @returns how many users were removed; null where the listing is not held any more, or another run has seen it since
 */
export async function acceptListing(
  { database }: Pick<SyncContext, 'database'>,
  place: HeldPlace,
  runId: string,
): Promise<number | null> {
  return transaction(database, (client) => acceptOne(client, place, runId))
}

async function acceptOne(
  client: Client,
  { heldId, batchKey }: HeldPlace,
  runId: string,
): Promise<number | null> {
  // The batch first, as every run that may resolve the listing does.
  await scopes.lockBatch.one(client, { batchKey, runId })
  const held = await holds.take.first(client, { heldId, runId })
  if (held === undefined) return null
  const present = await presentIn(client, held)
  const leaving = held.missingUserIds.filter((userId) => present.has(userId))
  await remove(client, held, leaving)
  const scope = { kind: held.kind, key: held.scopeKey }
  const recordCount = present.size - leaving.length
  // Without digests the next run looks at the listing again, whatever it answers.
  const forgotten = { scope, recordCount, bodyDigest: null, contentDigest: null, changed: true }
  await storeAnswers(client, [forgotten], held.now)
  await resolveHeld(client, held.kind, [held.scopeKey], 'accepted')
  return leaving.length
}

async function presentIn(client: Client, { kind, scopeKey: key }: TakenHold): Promise<Set<string>> {
  if (kind === 'organization') {
    const listed = await users.readListed.all(client, { organizationKey: key })
    return new Set(listed.map(({ userId }) => userId))
  }
  const members = (await readMembers(client, kind, [key])).get(key) ?? new Map<string, boolean>()
  return new Set([...members].filter(([, hasLeft]) => !hasLeft).map(([userId]) => userId))
}

async function remove(
  client: Client,
  { kind, scopeKey: key, now }: TakenHold,
  userIds: readonly string[],
): Promise<void> {
  if (kind === 'organization') await unlistUsers(client, key, userIds, now)
  else {
    const leaving = userIds.map((userId) => ({ key, userId }))
    await leaveMembers(client, kind, leaving, now)
  }
}
