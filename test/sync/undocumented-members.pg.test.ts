import { beforeEach, expect, test } from 'vitest'
import { places } from '../../src/demo/catalog.ts'
import { deleteComment } from '../../src/demo/changes.ts'
import { expectTablesEqual, rowsTouched } from '../helpers/expect-equal.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

/** Members that docs/SERVICE.md does not list are data: they are stored in `raw`, and decide nothing. */

/** Names that the document has elsewhere, with values of the service's own. */
const OWN = {
  organizationId: 'internal-17',
  documentId: 'doc/of/its/own',
  annotationId: 4711,
  userIds: ['u-1', 'u-2'],
  id: '6f9619ff-8b86-d011-b42d-00c04fc964ff',
  deleted: true,
}
/** An envelope that says more than the document shows, paging and failure among it. */
const BESIDE = {
  result: '"error":false,"organizationId":"internal-17","id":9,"deleted":false',
  data: '"total":100000,"hasMore":true,"userIds":["x"],"documentId":"d","deleted":[]',
}

let live: Live
beforeEach(async () => {
  live = await openLive('none', { standIn: { beside: BESIDE } })
  const { world } = live
  for (const organizationId of world.organizationIds())
    for (const user of world.users(organizationId) ?? [])
      world.putUser(organizationId, { ...user, ...OWN, status: 'inactive' })
  for (const place of places(world)) {
    const { live: served = [], deleted = [] } = world.thread(place) ?? {}
    const comments = served.map((comment) => ({
      ...comment,
      ...OWN,
      ...(comment.from === undefined ? {} : { from: { ...comment.from, ...OWN } }),
    }))
    world.putThread(place, { live: comments, deleted })
  }
  await live.importCatalog()
})

test('they are stored as received, and the next run writes nothing', async () => {
  const first = await live.run()
  expect(first).toMatchObject({ status: 'succeeded', rejected: 0, problem: null })
  await expectTablesEqual(live.database, live.world)
  const touched = await rowsTouched(live.database)
  expect(await live.run()).toMatchObject({ status: 'succeeded', users_written: 0 })
  expect(await rowsTouched(live.database)).toBe(touched)
})

test('with words of paging comments are deleted by their null, and who left a listing waits for a person', async () => {
  await live.run()
  const [place] = [...places(live.world)].filter((each) => live.world.comments(each)?.length)
  if (place === undefined) throw new Error('the world has no comment')
  const [comment] = live.world.comments(place) ?? []
  deleteComment(live.world, place, comment?.commentId ?? 0)
  expect(await live.run()).toMatchObject({ status: 'succeeded', comments_deleted: 1, failures: 0 })
  await expectTablesEqual(live.database, live.world)

  const [user] = live.world.users(place.organizationId) ?? []
  live.world.dropUser(place.organizationId, user?.userId ?? '')
  const run = await live.run()
  expect(run).toMatchObject({ status: 'partial', scopes_failed: 0 })
  expect(run['scopes_held']).toBeGreaterThan(0)
  const { rows } = await live.database.pool.query(
    'select listed, removed_at from collab.users where organization_id = $1 and user_id = $2',
    [place.organizationId, user?.userId],
  )
  expect(rows).toEqual([{ listed: true, removed_at: null }])
})
