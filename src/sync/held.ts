import { noteAction } from '../database/actions.ts'
import { transaction } from '../database/pool.ts'
import type { Client } from '../database/pool.ts'
import { storeAnswers } from '../database/scopes.ts'
import type { RowOf } from '../database/statement.ts'
import * as holds from '../database/statements/held.ts'
import * as scopes from '../database/statements/scopes.ts'
import * as users from '../database/statements/users.ts'
import { leaveMembers, readMembers, unlistUsers } from '../database/users.ts'
import { UsageError } from '../errors.ts'
import { counted, scopePath } from '../format.ts'
import type { SyncContext } from './context.ts'

type TakenHold = RowOf<typeof holds.take>

/** What a person decides about held listings. */
export interface HeldDecision {
  /** accepted: the users whom the answer lacked leave. refused: they stay, and the same answer is not asked about again. */
  readonly resolution: 'accepted' | 'refused'
  readonly by: string
  readonly reason: string | null
}

/** Which of the listings that are held; those that all of the members given name. */
export interface HeldChoice {
  readonly heldId?: number | null
  /** The run that last saw the answer. */
  readonly runId?: string | null
  readonly organizationId?: string | null
}

/**
 * Decides about held listings: each in a transaction of its own, so that what was decided stays if a later one fails; safe to
 * repeat.
 * @returns how many listings were decided, and how many users left, or stay for it
 * @throws UsageError where none of those is held
 */
export async function decideHeld(
  { database }: Pick<SyncContext, 'database'>,
  { heldId = null, runId = null, organizationId = null }: HeldChoice,
  decision: HeldDecision,
): Promise<{ listings: number; users: number }> {
  const places = await holds.places.all(database, { heldId, runId, organizationId })
  if (places.length === 0)
    throw new UsageError(
      `Nothing that is held${describeChoice({ heldId, runId, organizationId })} waits to be ${decision.resolution}.`,
    )
  let listings = 0
  let users = 0
  for (const place of places) {
    const decided = await transaction(database, (client) => decideOne(client, place, decision))
    if (decided === null) continue
    listings += 1
    users += decided
  }
  return { listings, users }
}

function describeChoice({ heldId, runId, organizationId }: HeldChoice): string {
  return [
    heldId === null ? '' : ` as listing ${heldId}`,
    runId === null ? '' : ` of run ${runId}`,
    organizationId === null ? '' : ` in organization ${JSON.stringify(organizationId)}`,
  ].join('')
}

/** @returns how many users; null where the listing is not held any more, or another run has seen it since */
async function decideOne(
  client: Client,
  { heldId, batchKey, runId }: RowOf<typeof holds.places>,
  { resolution, by, reason }: HeldDecision,
): Promise<number | null> {
  // The batch first, as every run that may resolve the listing does. What a person decides is of no run in the feed of changes.
  await scopes.lockBatch.one(client, { batchKey, runId: null })
  const held = await holds.take.first(client, { heldId, runId })
  if (held === undefined) return null
  const users =
    resolution === 'accepted' ? await removeMissing(client, held) : held.missingUserIds.length
  await holds.decide.run(client, { heldId, resolution, by, reason })
  const target = `${scopePath({ ...held, annotationId: null })}: ${counted(users, 'user')}`
  await noteAction(client, by, `held_${resolution}`, { runId, target, reason })
  return users
}

/** Takes the users whom the answer lacked out of the listing, if they are in it still. */
async function removeMissing(client: Client, held: TakenHold): Promise<number> {
  const present = await presentIn(client, held)
  const leaving = held.missingUserIds.filter((userId) => present.has(userId))
  await remove(client, held, leaving)
  const scope = { kind: held.kind, key: held.scopeKey }
  const recordCount = present.size - leaving.length
  // Without digests the next run looks at the listing again, whatever it answers.
  const forgotten = { scope, recordCount, bodyDigest: null, contentDigest: null, changed: true }
  await storeAnswers(client, [forgotten], held.now)
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
