import { afterEach, beforeEach, expect, test } from 'vitest'
import { UsageError } from '../../src/errors.ts'
import { acceptHeld } from '../../src/sync/held.ts'
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

  const accepted = await acceptHeld(context(), { runId: run.run_id, organizationId: first })

  expect(accepted).toMatchObject({ accepted: await heldOf(first), removed: before[first] })
  expect(accepted.accepted).toBe(1 + countListings(first))
  expect(await present()).toEqual({ ...before, [first]: 0 })
  await expect(acceptHeld(context(), { runId: run.run_id, organizationId: first })).rejects.toThrow(
    `in organization "${first}"`,
  )
  expect(await acceptHeld(context(), { runId: run.run_id })).toMatchObject({
    removed: before[second],
  })
  expect(await present()).toEqual({ ...before, [first]: 0, [second]: 0 })
})

test('the next run looks at an accepted listing again and brings back who is in it after all', async () => {
  const [first] = [...live.world.organizationIds()] as [string]
  const run = await runWithEmptyListingsOf(first)
  await acceptHeld(context(), { runId: run.run_id })
  live.standIn.setFaults([])
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  await expectTablesEqual(live.database, live.world)
})

test('an accepted listing that comes again as it was held changes nothing and is not held again', async () => {
  const [first] = [...live.world.organizationIds()] as [string]
  const run = await runWithEmptyListingsOf(first)
  await acceptHeld(context(), { runId: run.run_id })
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
  expect(await acceptHeld(context(), { runId: run.run_id })).toMatchObject({ removed: before - 1 })
})

test('accepting what a run did not hold is refused in a sentence', async () => {
  const run = await live.run()
  const accepting = acceptHeld(context(), { runId: run.run_id })
  await expect(accepting).rejects.toThrow(UsageError)
  await expect(accepting).rejects.toThrow(
    `Nothing that run ${run.run_id} held is waiting to be accepted.`,
  )
})

function context() {
  return { database: live.database.pool }
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
