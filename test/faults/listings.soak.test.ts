import { afterEach, beforeEach, expect, test } from 'vitest'
import { deleteComment, removeUser } from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

/** Everything that is not deleted, removed or unlisted: what a bad listing must not make less. */
const LIVE_ROWS = `select
  (select count(*) from collab.comments where deleted_at is null)::int as comments,
  (select count(*) from collab.users where listed)::int as users,
  (select count(*) from collab.document_users where removed_at is null)::int as document_users,
  (select count(*) from collab.user_group_members where removed_at is null)::int as group_members`

let live: Live
let full: Record<string, unknown>

beforeEach(async () => {
  live = await openLive('none', { world: { usersPerOrganization: 40 } })
  await live.importCatalog()
  await live.run()
  full = await row(LIVE_ROWS)
})
afterEach(() => live?.close())

test('halved listings of users beside a word of paging remove nobody, and wait for a person', async () => {
  live.standIn.setFaults([{ kind: 'half-with-next-page-token', match: { operation: 'users' } }])
  const run = await live.run()
  expect(run).toMatchObject({ status: 'partial', scopes_failed: 0 })
  expect(run['scopes_held']).toBeGreaterThan(0)
  expect(await row(LIVE_ROWS)).toEqual(full)
  live.standIn.setFaults([])
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  await expectTablesEqual(live.database, live.world)
})

test('answers of the wrong length to questions by id are no evidence: nothing is deleted until the service says null', async () => {
  const place = placeWithComments(3)
  const [gone] = live.world.comments(place) ?? []
  deleteComment(live.world, place, gone?.commentId ?? 0)
  live.standIn.setFaults([{ kind: 'wrong-length' }])
  const run = await live.run()
  expect(run).toMatchObject({ status: 'partial', comments_deleted: 0, scopes_failed: 1 })
  expect(await row(LIVE_ROWS)).toEqual(full)
  expect(await row('select error_status, annotation_id from sync.failures')).toEqual({
    error_status: 'answer_does_not_line_up',
    annotation_id: place.annotationId,
  })
  live.standIn.setFaults([])
  expect(await live.run()).toMatchObject({ status: 'succeeded', comments_deleted: 1 })
  await expectTablesEqual(live.database, live.world)
})

test('empty listings of comments are asked about by id and remove nothing', async () => {
  live.standIn.setFaults([
    {
      kind: 'empty-list',
      match: ({ operation, data }) => operation === 'comments' && !('commentIds' in data),
    },
  ])
  const run = await live.run()
  expect(run).toMatchObject({ status: 'succeeded', comments_deleted: 0 })
  expect(await row(LIVE_ROWS)).toEqual(full)
})

test('empty listings of users are held: nobody is removed, run after run, until they recover', async () => {
  live.standIn.setFaults([{ kind: 'empty-list', match: { operation: 'users' } }])
  for (let runs = 0; runs < 2; runs++) {
    const run = await live.run()
    expect(run).toMatchObject({ status: 'partial', scopes_failed: 0, users_written: 0 })
    expect(run['scopes_held']).toBeGreaterThanOrEqual(3)
    expect(await row(LIVE_ROWS)).toEqual(full)
    expect(await openHolds()).toBe(run['scopes_held'])
  }
  live.standIn.setFaults([])
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  expect(await openHolds()).toBe(0)
  expect(await row('select distinct resolution from sync.held')).toEqual({
    resolution: 'recovered',
  })
  await expectTablesEqual(live.database, live.world)
})

test('a held answer that comes again in as many scheduled runs as HELD_ACCEPT_AFTER says is believed, in listings of every kind', async () => {
  live.standIn.setFaults([{ kind: 'empty-list', match: { operation: 'users' } }])
  const settings = { HELD_ACCEPT_AFTER: '3' }
  expect(await live.run({ trigger: 'schedule', settings })).toMatchObject({ status: 'partial' })
  expect(await live.run({ trigger: 'schedule', settings })).toMatchObject({ status: 'partial' })
  // Another trigger's run is no repeat, however often.
  expect(await live.run({ trigger: 'cli' })).toMatchObject({ status: 'partial' })
  expect(await row(LIVE_ROWS)).toEqual(full)
  expect(await live.run({ trigger: 'schedule', settings })).toMatchObject({ status: 'succeeded' })
  expect(await row(LIVE_ROWS)).toEqual({
    comments: full['comments'],
    users: 0,
    document_users: 0,
    group_members: 0,
  })
  expect(await row('select distinct resolution from sync.held')).toEqual({ resolution: 'repeated' })
})

test('a listing that loses more than half of its users is held, and one that loses a few is not', async () => {
  const [first, second] = [...live.world.organizationIds()] as [string, string]
  const [few, many] = [live.world.users(first) ?? [], live.world.users(second) ?? []]
  for (const { userId } of few.slice(0, 3)) removeUser(live.world, first, userId)
  for (const { userId } of many.slice(0, 25)) removeUser(live.world, second, userId)
  const run = await live.run()
  expect(run).toMatchObject({ status: 'partial', scopes_failed: 0 })
  const listed = (id: string) =>
    row('select count(*)::int as n from collab.users where organization_id = $1 and listed', id)
  expect(await listed(first)).toEqual({ n: few.length - 3 })
  expect(await listed(second)).toEqual({ n: many.length })
  const held = await row(
    `select organization_id, users_before, cardinality(missing_user_ids) as missing
    from sync.held where kind = 'organization'`,
  )
  expect(held).toEqual({ organization_id: second, users_before: many.length, missing: 25 })
})

test('a listing with an item that names nobody is held where somebody is missing: it may be them', async () => {
  const [organizationId] = [...live.world.organizationIds()] as [string]
  const [user] = live.world.users(organizationId) ?? []
  removeUser(live.world, organizationId, user?.userId ?? '')
  live.standIn.setFaults([
    { kind: 'poison', poison: 'string-record', match: { operation: 'users' } },
  ])
  expect(await live.run()).toMatchObject({ status: 'partial', scopes_failed: 0 })
  expect(await row(LIVE_ROWS)).toEqual(full)
  live.standIn.setFaults([])
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  await expectTablesEqual(live.database, live.world)
})

async function openHolds(): Promise<unknown> {
  return (await row('select count(*)::int as n from sync.held where resolved_at is null'))['n']
}

function placeWithComments(least: number): Place {
  for (const place of places(live.world)) {
    if ((live.world.comments(place)?.length ?? 0) >= least) return place
  }
  throw new Error('no such annotation')
}

/** The only row. */
async function row(text: string, ...values: unknown[]): Promise<Record<string, unknown>> {
  const { rows } = await live.database.pool.query(text, values)
  expect(rows).toHaveLength(1)
  return rows[0] as Record<string, unknown>
}
