import { afterEach, beforeEach, expect, test } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import { countHeld, decideHeld } from '../../src/core/sync/held.ts'
import type { HeldChoice } from '../../src/core/sync/held.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openLive } from '../helpers/live.ts'
import type { Live, RunRow } from '../helpers/live.ts'

let live: Live

beforeEach(async () => {
  live = await openLive('none')
  await live.importCatalog()
  await live.run()
})
afterEach(() => live.close())

test('what was held is removed on a word, in the organization that was named and nowhere else', async () => {
  const [first, second] = [...live.world.organizationIds()] as [string, string]
  const run = await runWithEmptyListingsOf(first, second)
  expect(run).toMatchObject({ status: 'partial' })
  const before = await present()

  const accepted = await accept({ runId: run.run_id, organizationId: first })

  expect(accepted).toMatchObject({ listings: await heldOf(first), users: before[first] })
  expect(accepted.listings).toBe(1 + countListings(first))
  expect(await present()).toEqual({ ...before, [first]: 0 })
  await expect(accept({ runId: run.run_id, organizationId: first })).rejects.toThrow(
    `in organization "${first}"`,
  )
  expect(await accept({ runId: run.run_id })).toMatchObject({
    users: before[second],
  })
  expect(await present()).toEqual({ ...before, [first]: 0, [second]: 0 })
})

test('a decision is refused once another one was made, or a later run has seen a listing, since it was counted', async () => {
  const [first, second] = [...live.world.organizationIds()] as [string, string]
  await runWithEmptyListingsOf(first, second)
  const choice = { organizationId: first }
  const before = await present()
  const seen = await countHeld(context(), choice)
  expect(seen).toMatchObject({ listings: await waitingOf(first), users: before[first] })
  await runWithEmptyListingsOf(first, second)
  const decision = { resolution: 'accepted', by: 'ann', reason: null } as const
  const decide = (counts: typeof seen) => decideHeld(context(), choice, decision, counts)
  await expect(decide(seen)).rejects.toThrow(/Look again\.$/)
  const again = await countHeld(context(), choice)
  expect({ ...again, answers: '' }).toEqual({ ...seen, answers: '' })
  await expect(decide({ ...again, users: again.users + 1 })).rejects.toThrow(/Look again\.$/)
  expect(await present()).toEqual(before)
  expect(await decide(again)).toMatchObject({
    listings: again.listings,
    users: again.users,
    left: 0,
  })
  await expect(decide(again)).rejects.toThrow(/Look again\.$/)
  expect(await waitingOf(second)).toBe(1 + countListings(second))
})

test('what was decided before a listing fails stays decided, and the rest waits on', async () => {
  const [first] = [...live.world.organizationIds()] as [string]
  await runWithEmptyListingsOf(first)
  const waiting = await waitingOf(first)
  expect(waiting).toBeGreaterThan(2)
  const { pool } = live.database
  const { rows } = await pool.query('select max(held_id)::int as last from sync.held')
  await pool.query(
    `alter table sync.held add constraint fails check (resolved_at is null or held_id < ${rows[0].last})`,
  )
  expect(await accept({ organizationId: first })).toMatchObject({
    listings: waiting - 1,
    left: 1,
    fault: expect.objectContaining({ constraint: 'fails' }),
  })
  expect(await waitingOf(first)).toBe(1)
  await expect(accept({ organizationId: first })).rejects.toMatchObject({ constraint: 'fails' })
  await pool.query('alter table sync.held drop constraint fails')
  expect(await accept({ organizationId: first })).toMatchObject({ listings: 1, left: 0 })
})

test('the next run looks at an accepted listing again and brings back who is in it after all', async () => {
  const [first] = [...live.world.organizationIds()] as [string]
  const run = await runWithEmptyListingsOf(first)
  const { users } = await accept({ runId: run.run_id })
  live.standIn.setFaults([])
  expect(await live.run()).toMatchObject({ status: 'succeeded', records_updated: users })
  await expectTablesEqual(live.database, live.world)
})

test('an accepted listing that comes again as it was held changes nothing and is not held again', async () => {
  const [first] = [...live.world.organizationIds()] as [string]
  const run = await runWithEmptyListingsOf(first)
  await accept({ runId: run.run_id })
  const before = await present()
  expect(await live.run()).toMatchObject({ status: 'succeeded', scopes_held: 0, users_written: 0 })
  expect(await present()).toEqual(before)
})

test('a user who left a held listing by another way is not counted as removed', async () => {
  const [first] = [...live.world.organizationIds()] as [string]
  const run = await runWithEmptyListingsOf(first)
  const before = (await present())[first] as number
  await live.database.pool.query(
    `update collab_store.users set listed = false where user_id = (
      select min(user_id) from collab.users where organization_id = $1 and listed)
      and organization_key = (select organization_key from collab_store.organizations where organization_id = $1)`,
    [first],
  )
  expect(await accept({ runId: run.run_id })).toMatchObject({ users: before - 1 })
})

test('accepting what a run did not hold is refused in a sentence', async () => {
  const run = await live.run()
  const accepting = accept({ runId: run.run_id })
  await expect(accepting).rejects.toThrow(UsageError)
  await expect(accepting).rejects.toThrow(
    `Nothing that is held of run ${run.run_id} waits to be accepted.`,
  )
})

test('thirty nights of one wrong answer remove nobody; refused it is not asked about again, and right again nothing is left', async () => {
  const [first] = [...live.world.organizationIds()] as [string]
  const before = await present()
  live.standIn.setFaults([
    { kind: 'empty-list', match: { operation: 'users', organizationId: first } },
  ])
  const night = () => live.run({ trigger: 'schedule', scope: { organizationIds: [first] } })
  for (let nights = 0; nights < 15; nights += 1)
    expect(await night()).toMatchObject({ status: 'partial', users_written: 0 })
  const waiting = await waitingOf(first)
  expect(waiting).toBe(1 + countListings(first))
  const decision = { resolution: 'refused', by: 'ann', reason: 'a fault of theirs' } as const
  expect(await decideHeld(context(), { organizationId: first }, decision)).toMatchObject({
    listings: waiting,
    users: before[first],
    left: 0,
  })
  for (let nights = 0; nights < 15; nights += 1)
    expect(await night()).toMatchObject({ status: 'succeeded', scopes_held: 0, problem: null })
  expect(await waitingOf(first)).toBe(0)
  expect(await present()).toEqual(before)
  live.standIn.setFaults([])
  expect(await night()).toMatchObject({ status: 'succeeded' })
  expect(await waitingOf(first)).toBe(0)
  const { rows } = await live.database.pool.query(
    'select distinct resolution, decided_by, reason, is_standing from sync.held',
  )
  const { by: decided_by, ...why } = decision
  expect(rows).toEqual([{ ...why, decided_by, is_standing: false }])
  await expectTablesEqual(live.database, live.world)
})

test('another answer than the one that was refused is held, and so is that one after it was right', async () => {
  const [first] = [...live.world.organizationIds()] as [string]
  const run = await runWithEmptyListingsOf(first)
  const choice = { runId: run.run_id }
  await decideHeld(context(), choice, { resolution: 'refused', by: 'ann', reason: 'no' })
  const users = live.world.users(first) ?? []
  live.standIn.setFaults([
    {
      kind: 'custom',
      match: ({ operation, data }) => operation === 'users' && Object.keys(data).length === 1,
      respond: (_, response) =>
        response.end(
          JSON.stringify({ result: { status: 'success', message: '', data: users.slice(0, 1) } }),
        ),
    },
  ])
  expect(await live.run({ scope: { organizationIds: [first] } })).toMatchObject({ scopes_held: 1 })
  live.standIn.setFaults([])
  await live.run()
  expect(await waitingOf(first)).toBe(0)
  expect(await runWithEmptyListingsOf(first)).toMatchObject({ status: 'partial' })
  expect(await waitingOf(first)).toBe(1 + countListings(first))
})

test('HELD_ACCEPT_AFTER applies what so many equal nightly answers say, and those of others do not count', async () => {
  const [first] = [...live.world.organizationIds()] as [string]
  const before = await present()
  const settings = { HELD_ACCEPT_AFTER: '3' }
  live.standIn.setFaults([
    { kind: 'empty-list', match: { operation: 'users', organizationId: first } },
  ])
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

async function waitingOf(organizationId: string): Promise<number> {
  const { rows } = await live.database.pool.query(
    'select count(*)::int as n from sync.held where organization_id = $1 and resolved_at is null',
    [organizationId],
  )
  return rows[0].n
}

async function runWithEmptyListingsOf(...organizationIds: string[]): Promise<RunRow> {
  live.standIn.setFaults(
    organizationIds.map((organizationId) => ({
      kind: 'empty-list',
      match: { operation: 'users', organizationId },
    })),
  )
  return live.run()
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

async function heldOf(organizationId: string): Promise<number> {
  const { rows } = await live.database.pool.query(
    `select count(*)::int as held from sync.held where organization_id = $1 and resolution = 'accepted'`,
    [organizationId],
  )
  return rows[0].held
}

/** Who is in any listing, by organization. */
async function present(): Promise<Record<string, number>> {
  const { rows } = await live.database.pool.query(
    `select o.organization_id,
      (select count(*) from collab.users u where u.organization_id = o.organization_id and u.listed)
      + (select count(*) from collab.document_users d where d.organization_id = o.organization_id and d.removed_at is null)
      + (select count(*) from collab.user_group_members g where g.organization_id = o.organization_id and g.removed_at is null)
      as present
    from collab.organizations o order by 1`,
  )
  return Object.fromEntries(rows.map((row) => [row.organization_id, row.present]))
}
