import { createHash } from 'node:crypto'
import { noteAction } from '../database/actions.ts'
import { transaction } from '../database/pool.ts'
import type { Client } from '../database/pool.ts'
import { storeListings } from '../database/scopes.ts'
import type { RowOf } from '../database/statement.ts'
import * as holds from '../database/statements/held.ts'
import * as scopes from '../database/statements/scopes.ts'
import { UsageError } from '../../base/errors.ts'
import { count, counted, scopePath } from '../../schemas/format.ts'
import type { SyncContext } from './context.ts'
import { moduleOf } from './operation.ts'

type TakenHold = RowOf<typeof holds.take>
type HeldPlace = RowOf<typeof holds.byOrganization>

/** A person's decision about held removals. */
export interface HeldDecision {
  /** accepted: the missing users leave. refused: they stay, and the same response is not held again. */
  readonly resolution: 'accepted' | 'refused'
  readonly by: string
  readonly reason: string | null
}

/** Which held removals; each member that is given must match. */
export interface HeldChoice {
  readonly heldId?: number | null
  /** The run that last received the response. */
  readonly runId?: string | null
  readonly organizationId?: string | null
}

/** How much is held, as a person sees it before deciding. */
export type HeldCounts = Readonly<Awaited<ReturnType<typeof countHeld>>>

/** Counts held listings. */
export async function countHeld({ database }: Pick<SyncContext, 'database'>, choice: HeldChoice) {
  return (await readChosen(database, choice)).counts
}

/**
 * Accepts or refuses held removals, each in a transaction of its own: what was decided stays if a later one fails. Safe to repeat.
 * @param seen the counts that the person saw
 * @returns `listings` that were decided; `people` who left or stay, each counted once; `runId` of the run that last received them, null if there
 *   are several; `left`, the listings that were not decided because of `fault`, another decision or another run
 * @throws UsageError if none of them is held, or they have changed since they were seen
 */
export async function decideHeld(
  { database }: Pick<SyncContext, 'database'>,
  choice: HeldChoice,
  decision: HeldDecision,
  seen?: Omit<HeldCounts, 'usersBefore'>,
) {
  const { places, counts: now } = await readChosen(database, choice)
  if (seen !== undefined && SEEN.some((name) => seen[name] !== now[name]))
    throw new UsageError(HELD_CHANGED)
  if (places.length === 0) throw new UsageError(await nothingHeld({ database }, choice))
  let listings = 0
  const people = new Set<string>()
  let fault: unknown
  try {
    for (const place of places) {
      const decided = await transaction(database, (client) => decideOne(client, place, decision))
      if (decided === null) continue
      listings += 1
      for (const userId of decided) people.add(JSON.stringify([place.organizationId, userId]))
    }
  } catch (error) {
    fault = error
  }
  if (listings === 0) throw fault ?? new UsageError(HELD_CHANGED)
  const runIds = new Set(places.map(({ runId }) => runId))
  const [runId = null] = runIds.size === 1 ? runIds : []
  return { listings, people: people.size, runId, left: places.length - listings, fault }
}

/** Shown to a person whose page is out of date. */
export const HELD_CHANGED =
  'The held removals have changed since they were shown: a decision was made, or a later run received a response. Check them again.'

const SEEN = ['listings', 'people', 'responses'] as const

async function readChosen(
  database: SyncContext['database'],
  { heldId = null, runId = null, organizationId = null }: HeldChoice,
) {
  const chosen = { heldId, runId, organizationId }
  const all = { after: null, mostOfOrganization: null, limit: null }
  const places = await holds.byOrganization.all(database, { ...chosen, ...all })
  const { people } = await holds.count.one(database, { ...chosen, isRefused: false })
  const digest = createHash('sha256')
  for (const place of places) digest.update(`${place.heldId} ${place.runId} `)
  const counts = {
    listings: places.length,
    /** Users missing from them; one who is missing from several is counted once. */
    people,
    usersBefore: places.reduce((sum, place) => sum + place.usersBefore, 0),
    /** A digest of the listings and of the run that last saw each: it differs when a later run has seen one of them. */
    responses: digest.digest('hex'),
  }
  return { places, counts }
}

const OUTCOMES: Readonly<Record<RowOf<typeof holds.outcomes>['resolution'], string>> = {
  accepted: 'accepted',
  refused: 'refused',
  repeated: 'accepted by HELD_ACCEPT_AFTER',
  recovered: 'resolved because the users returned',
}

/** Says that there is no open held removal, and how earlier ones were resolved. */
export async function nothingHeld(
  { database }: Pick<SyncContext, 'database'>,
  { heldId = null, runId = null, organizationId = null }: HeldChoice,
): Promise<string> {
  const resolved = await holds.outcomes.all(database, { heldId, runId, organizationId })
  const [named = '', ...others] = [
    heldId === null ? '' : `listing ${heldId}`,
    runId === null ? '' : `run ${runId}`,
    organizationId === null ? '' : `organization ${JSON.stringify(organizationId)}`,
  ].filter(Boolean)
  const of = others.map((other) => ` of ${other}`).join('')
  const sentence = `${named.charAt(0).toUpperCase()}${named.slice(1)} has no open held removal${of}`
  if (resolved.length === 0)
    return `${sentence}.${runId === null ? '' : ' A later run may have received another response.'}`
  const outcomes = resolved.map(
    ({ listings, resolution }) =>
      `${count(listings)} ${listings === 1 ? 'was' : 'were'} ${OUTCOMES[resolution]}`,
  )
  return `${sentence}: ${outcomes.join(', ')}.`
}

/** @returns the users who left or stay; null if the listing is not held any more, or another run has received it since */
async function decideOne(
  client: Client,
  { heldId, batchKey, runId }: HeldPlace,
  { resolution, by, reason }: HeldDecision,
): Promise<readonly string[] | null> {
  // The batch first, as in every run that may resolve the listing. In the feed of changes, a decision belongs to no run.
  await scopes.lockBatch.one(client, { batchKey, runId: null })
  const held = await holds.take.first(client, { heldId, runId })
  if (held === undefined) return null
  const users = resolution === 'accepted' ? await removeMissing(client, held) : held.missingUserIds
  await holds.decide.run(client, { heldId, resolution, by, reason })
  const target = `${scopePath({ ...held, annotationId: null })}: ${counted(users.length, 'user')}`
  await noteAction(client, by, `held_${resolution}`, { runId, target, reason })
  return users
}

/** Takes the missing records out of the listing, if they are still in it. @returns their IDs */
async function removeMissing(client: Client, held: TakenHold): Promise<readonly string[]> {
  const { operation, kind, scopeKey: key, batchKey, scopeNo, missingUserIds, now } = held
  const { listed } = moduleOf(operation)
  if (listed === null) throw new Error(`Removals of ${operation} are never held.`)
  const [stored = new Map<string, boolean>()] = await listed.readStored(client, [{ kind, key }])
  const present = new Set([...stored].flatMap(([id, hasLeft]) => (hasLeft ? [] : [id])))
  const leaving = missingUserIds.filter((id) => present.has(id))
  await listed.remove(client, { kind, key }, leaving, now)
  // Without digests, the next run reads the listing even if it is the same.
  const forgotten = { bodyDigest: null, contentDigest: null }
  const recordCount = present.size - leaving.length
  await storeListings(client, batchKey, [{ scope: { scopeNo, key }, recordCount, ...forgotten }])
  return leaving
}
