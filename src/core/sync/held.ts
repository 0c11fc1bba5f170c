import { createHash } from 'node:crypto'
import { noteAction } from '../database/actions.ts'
import { transaction } from '../database/pool.ts'
import type { Client } from '../database/pool.ts'
import { storeListings } from '../database/scopes.ts'
import type { RowOf } from '../database/statement.ts'
import * as holds from '../database/statements/held.ts'
import * as scopes from '../database/statements/scopes.ts'
import * as users from '../database/statements/users.ts'
import { leaveMembers, readMembers, unlistUsers } from '../database/users.ts'
import { UsageError } from '../../base/errors.ts'
import { counted, scopePath } from '../../documents/format.ts'
import type { SyncContext } from './context.ts'

type TakenHold = RowOf<typeof holds.take>
type HeldPlace = RowOf<typeof holds.byOrganization>

/** What a person decides about held listings. */
export interface HeldDecision {
  /** accepted: the missing users leave. refused: they stay, and the same response is not held again. */
  readonly resolution: 'accepted' | 'refused'
  readonly by: string
  readonly reason: string | null
}

/** Which of the listings that are held; those that all of the members given name. */
export interface HeldChoice {
  readonly heldId?: number | null
  /** The run that last received the response. */
  readonly runId?: string | null
  readonly organizationId?: string | null
}

/** How many listings are held, as a person sees it before deciding. */
export interface HeldCounts {
  readonly listings: number
  /** Users missing from them; one who is missing from several is counted in each. */
  readonly users: number
  readonly usersBefore: number
  /** A digest of the listings and of the run that last saw each: it differs when a later run has seen one of them. */
  readonly answers: string
}

/** Counts held listings. */
export async function countHeld(
  { database }: Pick<SyncContext, 'database'>,
  choice: HeldChoice,
): Promise<HeldCounts> {
  return countsOf(await holds.byOrganization.all(database, { ...ALL, ...choice }))
}

const ALL = {
  heldId: null,
  runId: null,
  organizationId: null,
  after: null,
  mostOfOrganization: null,
  limit: null,
}

/**
 * Decides about held listings: each in a transaction of its own, so that what was decided stays if a later one fails; safe to
 * repeat.
 * @param seen the counts that the person saw
 * @returns how many listings were decided, the run that last saw them (null where several did), how many users left, or stay
 * for it, and how many listings of the choice were not decided: because of `fault`, or because another decision or run came first
 * @throws UsageError where none of those is held, or they have changed since they were seen
 */
export async function decideHeld(
  { database }: Pick<SyncContext, 'database'>,
  choice: HeldChoice,
  decision: HeldDecision,
  seen?: Omit<HeldCounts, 'usersBefore'>,
): Promise<{
  listings: number
  users: number
  runId: string | null
  left: number
  fault?: unknown
}> {
  const chosen = { ...ALL, ...choice }
  const places = await holds.byOrganization.all(database, chosen)
  const now = countsOf(places)
  if (seen !== undefined && SEEN.some((name) => seen[name] !== now[name]))
    throw new UsageError(HELD_CHANGED)
  if (places.length === 0)
    throw new UsageError(
      `Nothing that is held${describeChoice(chosen)} waits to be ${decision.resolution}.${chosen.runId === null ? '' : ' A later run may have received another response.'}`,
    )
  let listings = 0
  let users = 0
  let fault: unknown
  try {
    for (const place of places) {
      const decided = await transaction(database, (client) => decideOne(client, place, decision))
      if (decided === null) continue
      listings += 1
      users += decided
    }
  } catch (error) {
    fault = error
  }
  if (listings === 0) throw fault ?? new UsageError(HELD_CHANGED)
  const runIds = new Set(places.map(({ runId }) => runId))
  const [runId = null] = runIds.size === 1 ? runIds : []
  return { listings, users, runId, left: places.length - listings, fault }
}

/** Shown to a person whose page is out of date. */
export const HELD_CHANGED =
  'The held removals have changed since you looked: a decision was made, or a later run received a response. Look again.'

const SEEN = ['listings', 'users', 'answers'] as const

function countsOf(places: readonly HeldPlace[]): HeldCounts {
  const digest = createHash('sha256')
  for (const { heldId, runId } of places) digest.update(`${heldId} ${runId} `)
  return {
    listings: places.length,
    users: places.reduce((sum, { usersMissing }) => sum + usersMissing, 0),
    usersBefore: places.reduce((sum, { usersBefore }) => sum + usersBefore, 0),
    answers: digest.digest('hex'),
  }
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
  { heldId, batchKey, runId }: HeldPlace,
  { resolution, by, reason }: HeldDecision,
): Promise<number | null> {
  // The batch first, as in every run that may resolve the listing. In the feed of changes, a decision belongs to no run.
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

/** Takes the missing users out of the listing, if they are still in it. */
async function removeMissing(client: Client, held: TakenHold): Promise<number> {
  const present = await presentIn(client, held)
  const leaving = held.missingUserIds.filter((userId) => present.has(userId))
  await remove(client, held, leaving)
  const scope = { kind: held.kind, key: held.scopeKey }
  const recordCount = present.size - leaving.length
  // Without digests, the next run reads the listing even if it is the same.
  const forgotten = { scope, recordCount, bodyDigest: null, contentDigest: null }
  await storeListings(client, [forgotten])
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
