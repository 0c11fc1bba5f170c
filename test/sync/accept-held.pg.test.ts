import { beforeEach, expect, test } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import { readRunDetails } from '../../src/client/run-reports.ts'
import { transaction } from '../../src/core/database/pool.ts'
import * as scopes from '../../src/core/database/statements/scopes.ts'
import { countHeld, decideHeld } from '../../src/core/sync/held.ts'
import type { HeldChoice } from '../../src/core/sync/held.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live, RunRow } from '../helpers/live.ts'
import { listingUsers } from '../helpers/places.ts'
import { until } from '../helpers/until.ts'
import type { FaultRule } from '../service/faults.ts'

let live: Live
let first: string
let second: string

beforeEach(async () => {
  live = await openLoaded('none')
  ;[first, second] = [...live.world.organizationIds()] as [string, string]
  await live.run()
})

test('what was held is removed on a word, in the organization that was named and nowhere else', async () => {
  const run = await runWithEmptyListingsOf(first, second)
  expect(run).toMatchObject({ status: 'partial' })
  const before = await present()

  const accepted = await accept({ runId: run.run_id, organizationId: first })

  expect(accepted).toMatchObject({
    listings: await countHolds(first, `resolution = 'accepted'`),
    people: peopleOf(first),
  })
  expect(accepted.listings).toBe(1 + countListings(first))
  expect(await present()).toEqual({ ...before, [first]: 0 })
  await expect(accept({ runId: run.run_id, organizationId: first })).rejects.toThrow(
    `Run ${run.run_id} has no open held removal of organization "${first}": ${accepted.listings} were accepted.`,
  )
  expect(await accept({ runId: run.run_id })).toMatchObject({
    people: peopleOf(second),
  })
  expect(await present()).toEqual({ ...before, [first]: 0, [second]: 0 })
})

test('a decision is refused once another one was made, or a later run has seen a listing, since it was counted', async () => {
  await runWithEmptyListingsOf(first, second)
  const choice = { organizationId: first }
  const before = await present()
  const seen = await countHeld(context(), choice)
  expect(seen).toMatchObject({ listings: await waitingOf(first), people: peopleOf(first) })
  await runWithEmptyListingsOf(first, second)
  const decision = { resolution: 'accepted', by: 'ann', reason: null } as const
  const decide = (counts: typeof seen) => decideHeld(context(), choice, decision, counts)
  await expect(decide(seen)).rejects.toThrow(/Check them again\.$/)
  const again = await countHeld(context(), choice)
  expect({ ...again, responses: '' }).toEqual({ ...seen, responses: '' })
  await expect(decide({ ...again, people: again.people + 1 })).rejects.toThrow(
    /Check them again\.$/,
  )
  expect(await present()).toEqual(before)
  expect(await decide(again)).toMatchObject({
    listings: again.listings,
    people: again.people,
    left: 0,
  })
  await expect(decide(again)).rejects.toThrow(/Check them again\.$/)
  expect(await waitingOf(second)).toBe(1 + countListings(second))
})

test('a decision about what several runs held last names none of them', async () => {
  await runWithEmptyListingsOf(first, second)
  await live.run({ scope: { organizationIds: [second] } })
  expect(await accept({})).toMatchObject({ runId: null })
})

test('a decision waits for a run that writes to the listing', async () => {
  await runWithEmptyListingsOf(first)
  const waiting = await waitingOf(first)
  const [{ key: batchKey }] = await live.rows('select min(batch_key)::int as key from sync.held')
  let accepted: Promise<unknown> | undefined
  await transaction(live.database.pool, async (client) => {
    await scopes.lockBatch.one(client, { batchKey, runId: null })
    accepted = accept({ organizationId: first })
    const locked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until(
      'it waits, or has decided',
      async () => (await live.rows(locked)).length > 0 || (await waitingOf(first)) === 0,
    )
    expect(await waitingOf(first)).toBe(waiting)
  })
  expect(await accepted).toMatchObject({ listings: waiting })
})

test('what was decided before a listing fails stays decided, and the rest waits on', async () => {
  await runWithEmptyListingsOf(first)
  const waiting = await waitingOf(first)
  expect(waiting).toBeGreaterThan(2)
  const [{ last }] = await live.rows('select max(held_id)::int as last from sync.held')
  await live.rows(
    `alter table sync.held add constraint fails check (resolved_at is null or held_id < ${last})`,
  )
  expect(await accept({ organizationId: first })).toMatchObject({
    listings: waiting - 1,
    left: 1,
    fault: expect.objectContaining({ constraint: 'fails' }),
  })
  expect(await waitingOf(first)).toBe(1)
  await expect(accept({ organizationId: first })).rejects.toMatchObject({ constraint: 'fails' })
  await live.rows('alter table sync.held drop constraint fails')
  expect(await accept({ organizationId: first })).toMatchObject({ listings: 1, left: 0 })
})

test('the next run looks at an accepted listing again and brings back who is in it after all', async () => {
  const run = await runWithEmptyListingsOf(first)
  const { [first]: memberships } = await present()
  await accept({ runId: run.run_id })
  live.standIn.setFaults([])
  expect(await live.run()).toMatchObject({ status: 'succeeded', records_updated: memberships })
  await expectTablesEqual(live.database, live.world)
})

test('an accepted listing that comes again as it was held changes nothing and is not held again', async () => {
  const run = await runWithEmptyListingsOf(first)
  await accept({ runId: run.run_id })
  const before = await present()
  expect(await live.run()).toMatchObject({ status: 'succeeded', scopes_held: 0, users_written: 0 })
  expect(await present()).toEqual(before)
})

test('a user who left a held listing by another way is not counted as removed', async () => {
  await runWithEmptyListingsOf(first)
  const [{ id: heldId, users }] = await live.rows(
    `select held_id as id, users_before as users from sync.held where kind = 'organization'`,
  )
  await live.database.pool.query(
    `update collab_store.users set listed = false where user_id = (
      select min(user_id) from collab.users where organization_id = $1 and listed)
      and organization_key = (select organization_key from collab_store.organizations where organization_id = $1)`,
    [first],
  )
  expect(await accept({ heldId })).toMatchObject({ people: users - 1 })
})

test('accepting what a run did not hold is refused in a sentence', async () => {
  const run = await live.run()
  const accepting = accept({ runId: run.run_id })
  await expect(accepting).rejects.toThrow(UsageError)
  await expect(accepting).rejects.toThrow(
    `Run ${run.run_id} has no open held removal. A later run may have received another response.`,
  )
})

test('a refused response removes nobody and is not held again; another one is, and so is that one once the listing was right', async () => {
  const before = await present()
  const night = () => live.run({ trigger: 'schedule', scope: { organizationIds: [first] } })
  live.standIn.setFaults([emptyListingsOf(first)])
  for (let nights = 0; nights < 3; nights += 1)
    expect(await night()).toMatchObject({ status: 'partial', users_written: 0 })
  const all = 1 + countListings(first)
  expect(await waitingOf(first)).toBe(all)
  const decision = { resolution: 'refused', by: 'ann', reason: 'a fault of theirs' } as const
  expect(await decideHeld(context(), { organizationId: first }, decision)).toMatchObject({
    listings: all,
    people: peopleOf(first),
    left: 0,
  })
  const runs = await live.rows('select run_id from sync.runs order by requested_at desc limit 1')
  const details = await readRunDetails(live.database.pool, runs[0].run_id)
  expect(details).toMatchObject({ held: { listings: 0 }, refused: { listings: all } })
  await expect(accept({ organizationId: first })).rejects.toThrow(
    `Organization "${first}" has no open held removal: ${all} were refused.`,
  )
  for (let nights = 0; nights < 3; nights += 1)
    expect(await night()).toMatchObject({ status: 'succeeded', scopes_held: 0, problem: null })
  expect([await waitingOf(first), await present()]).toEqual([0, before])

  const data = (live.world.users(first) ?? []).slice(0, 1)
  live.standIn.setFaults([listingUsers(first, data)])
  expect(await night()).toMatchObject({ status: 'partial', scopes_held: 1 })
  live.standIn.setFaults([])
  expect(await night()).toMatchObject({ status: 'succeeded' })
  expect(await waitingOf(first)).toBe(0)
  const { by: decided_by, ...why } = decision
  const refused = `select distinct resolution, decided_by, reason, is_standing from sync.held where resolution = 'refused'`
  expect(await live.rows(refused)).toEqual([{ ...why, decided_by, is_standing: false }])
  await expectTablesEqual(live.database, live.world)
  live.standIn.setFaults([emptyListingsOf(first)])
  expect(await night()).toMatchObject({ status: 'partial' })
  expect(await waitingOf(first)).toBe(all)
})

test('HELD_ACCEPT_AFTER applies what so many equal nightly answers say, and those of others do not count', async () => {
  const before = await present()
  const settings = { HELD_ACCEPT_AFTER: '3' }
  live.standIn.setFaults([emptyListingsOf(first)])
  for (const trigger of ['schedule', 'cli', 'schedule'] as const)
    expect(await live.run({ trigger, settings })).toMatchObject({ status: 'partial' })
  expect(await present()).toEqual(before)
  expect(await live.run({ trigger: 'schedule', settings })).toMatchObject({ status: 'succeeded' })
  expect(await present()).toEqual({ ...before, [first]: 0 })
})

function context() {
  return { database: live.database.pool }
}

function accept(choice: HeldChoice) {
  return decideHeld(context(), choice, { resolution: 'accepted', by: 'ann', reason: null })
}

function waitingOf(organizationId: string): Promise<number> {
  return countHolds(organizationId, 'resolved_at is null')
}

async function countHolds(organizationId: string, condition: string): Promise<number> {
  const holds = `select from sync.held where organization_id = $1 and ${condition}`
  return (await live.rows(holds, organizationId)).length
}

async function runWithEmptyListingsOf(...organizationIds: string[]): Promise<RunRow> {
  live.standIn.setFaults(organizationIds.map(emptyListingsOf))
  return live.run()
}

function emptyListingsOf(organizationId: string): FaultRule {
  return { kind: 'empty-list', match: { operation: 'users', organizationId } }
}

/** Listings of documents and groups that hold anybody, by the world. */
function countListings(organizationId: string): number {
  const { world } = live
  const documents = [...world.documentIds(organizationId)].map((id) =>
    world.documentUsers(organizationId, id),
  )
  const groups = [...world.groupIds(organizationId)].map((id) =>
    world.groupMembers(organizationId, id),
  )
  return [...documents, ...groups].filter((users) => (users?.length ?? 0) > 0).length
}

/** How many people are in any listing of an organization, by the world. */
function peopleOf(organizationId: string): number {
  const { world } = live
  const listings = [
    world.users(organizationId),
    ...[...world.documentIds(organizationId)].map((id) => world.documentUsers(organizationId, id)),
    ...[...world.groupIds(organizationId)].map((id) => world.groupMembers(organizationId, id)),
  ]
  return new Set(listings.flatMap((users) => (users ?? []).map(({ userId }) => userId))).size
}

/** Memberships of all listings, by organization. */
async function present(): Promise<Record<string, number>> {
  const rows = await live.rows(
    `select o.organization_id,
      (select count(*) from collab.users u where u.organization_id = o.organization_id and u.listed)
      + (select count(*) from collab.document_users d where d.organization_id = o.organization_id and d.removed_at is null)
      + (select count(*) from collab.user_group_members g where g.organization_id = o.organization_id and g.removed_at is null)
      as present
    from collab.organizations o order by 1`,
  )
  return Object.fromEntries(rows.map((row) => [row.organization_id, row.present]))
}
