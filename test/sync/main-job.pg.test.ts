import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  addComment,
  deleteComment,
  edit,
  leaveDocument,
  restoreComment,
} from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { World } from '../../src/demo/world.ts'
import { expectTablesEqual, rowsTouched } from '../helpers/expect-equal.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

/** What runs write, one after another over the same tables: each test begins with what those before it left. */

let live: Live
beforeAll(async () => {
  live = await openLive('none')
  await live.importCatalog()
})
afterAll(() => live?.close())

test('a run of some users asks by their ids and touches no membership', async () => {
  const [organizationId] = live.world.organizationIds()
  const [user] = live.world.users(organizationId as string) ?? []
  live.standIn.calls.reset()
  const run = await live.run({
    scope: { organizationIds: [organizationId], userIds: [user?.userId] },
  })
  expect(run).toMatchObject({ status: 'succeeded', users_written: 1, calls: 1 })
  expect(live.standIn.calls.log.map(({ data }) => data)).toEqual([
    { organizationId, userIds: [user?.userId] },
  ])
  const { rows } = await live.database.pool.query('select user_id, listed from collab.users')
  expect(rows).toEqual([{ user_id: user?.userId, listed: false }])
})

test('a full run makes the tables equal to what the service serves, by documented calls only', async () => {
  live.standIn.calls.reset()
  const run = await live.run()
  expect(run).toMatchObject({ status: 'succeeded', problem: null })
  await expectTablesEqual(live.database, live.world)
  expect(run['calls']).toBe(live.standIn.calls.total)
  expect(run['organizations_done']).toBe(live.world.totals().organizations)
  expect(run['documents_done']).toBe(live.world.totals().documents)
  expect(run['annotations_done']).toBe(live.world.totals().annotations)
  expect(live.standIn.violations).toEqual([])
})

test('a second run over an unchanged service touches no row', async () => {
  const before = await rowsTouched(live.database)
  const run = await live.run()
  expect(run).toMatchObject({ status: 'succeeded', records_inserted: 0, records_updated: 0 })
  expect(run['records_unchanged']).toBeGreaterThan(100)
  expect(await rowsTouched(live.database)).toBe(before)
})

test('edits, additions, deletions, a come-back and a left document are all in after one more run', async () => {
  const place = busyPlace(live.world)
  const [first, second] = (live.world.comments(place) ?? [])
    .filter(({ commentText }) => commentText !== undefined)
    .map(({ commentId }) => commentId)
  edit(live.world, place, first as number, { text: 'Edited: «Ωμέγα» 你好' })
  deleteComment(live.world, place, second as number)
  addComment(live.world, place, { text: 'New', from: { userId: 'guest-9', name: 'Guest' } })
  const member = membersOf(live.world, place)[0] as string
  leaveDocument(live.world, place.organizationId, place.documentId, member)
  const [removed] = (live.world.users(place.organizationId) ?? []).slice(-1)
  live.world.dropUser(place.organizationId, removed?.userId as string)
  expect(await live.run()).toMatchObject({ status: 'succeeded', comments_deleted: 1 })
  await expectTablesEqual(live.database, live.world)
  const { rows: deleted } = await live.database.pool.query(
    'select comment_text, deleted_at from collab.comments where deleted_at is not null',
  )
  expect(deleted).toHaveLength(1)
  expect(deleted[0].comment_text).not.toBeNull()

  restoreComment(live.world, place, second as number)
  expect(await live.run()).toMatchObject({ status: 'succeeded', records_updated: 1 })
  await expectTablesEqual(live.database, live.world)
  expect(await versionsOf(live, place, second as number)).toEqual([
    [1, 'added', 'joined'],
    [2, 'deleted', 'joined'],
    [3, 'restored', 'open'],
  ])
  expect(await versionsOf(live, place, first as number)).toEqual([
    [1, 'added', 'joined'],
    [2, 'edited', 'open'],
  ])
})

test('a run of one document asks for that document and nothing else', async () => {
  const place = busyPlace(live.world)
  live.standIn.calls.reset()
  const { organizationId, documentId } = place
  const run = await live.run({ scope: { organizationIds: [organizationId], documentId } })
  expect(run.status).toBe('succeeded')
  const annotations = [...places(live.world)].filter(
    (each) => each.organizationId === organizationId && each.documentId === documentId,
  )
  expect(live.standIn.calls.total).toBe(1 + annotations.length)
  for (const { data } of live.standIn.calls.log)
    expect(data).toMatchObject({ organizationId, documentId })
})

test('a run of some comments writes them and removes nothing beyond them', async () => {
  const place = busyPlace(live.world)
  const [first, second, third] = (live.world.comments(place) ?? []).map(
    ({ commentId }) => commentId,
  )
  edit(live.world, place, first as number, { text: 'one' })
  deleteComment(live.world, place, second as number)
  deleteComment(live.world, place, third as number)
  live.standIn.calls.reset()
  const { organizationId, documentId, annotationId } = place
  const run = await live.run({
    scope: {
      organizationIds: [organizationId],
      documentId,
      annotationId,
      commentIds: [first, second],
    },
  })
  expect(run).toMatchObject({
    status: 'succeeded',
    records_updated: 1,
    comments_deleted: 1,
    calls: 1,
  })
  expect(live.standIn.calls.log.map(({ data }) => data)).toEqual([
    { organizationId, documentId, annotationId, commentIds: [first, second] },
  ])
  expect(await live.run()).toMatchObject({ status: 'succeeded', comments_deleted: 1 })
  await expectTablesEqual(live.database, live.world)
})

/** An annotation with a few comments in a document with some members. */
function busyPlace(world: World): Place {
  for (const place of places(world)) {
    if ((world.comments(place)?.length ?? 0) >= 4 && membersOf(world, place).length >= 3)
      return place
  }
  throw new Error('the world has no busy annotation')
}

function membersOf(world: World, { organizationId, documentId }: Place): string[] {
  return (world.documentUsers(organizationId, documentId) ?? []).map(({ userId }) => userId)
}

/** Version, change, and whether it ends just where the next one begins. */
async function versionsOf(live: Live, place: Place, commentId: number): Promise<unknown[]> {
  const { rows } = await live.database.pool.query(
    `select version, change, valid_from, valid_to,
      lead(valid_from) over (order by version) as next_from
    from collab.comment_versions
    where organization_id = $1 and document_id = $2 and annotation_id = $3 and comment_id = $4
    order by version`,
    [place.organizationId, place.documentId, place.annotationId, commentId],
  )
  return rows.map((row) => [
    row.version,
    row.change,
    row.valid_to === null
      ? 'open'
      : row.valid_to.getTime() === row.next_from?.getTime()
        ? 'joined'
        : 'gap',
  ])
}
