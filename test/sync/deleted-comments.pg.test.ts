import { beforeEach, expect, test } from 'vitest'
import { addComment, deleteComment } from '../../src/demo/changes.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import { successBody } from '../../src/demo/operations.ts'
import { openLoaded } from '../helpers/live.ts'
import { busyPlace, listingComments, scopeOf } from '../helpers/places.ts'
import type { FaultRule } from '../service/faults.ts'

/** What counts as evidence that a comment was deleted: null at its place in the response to a call by IDs, and nothing else. */

const live = await openLoaded('none', {
  world: { organizations: 1, documentsPerOrganization: 1 },
  settings: { SYNC_RETRIES: '0' },
})

let place: Place
let comments: readonly Comment[]
beforeEach(async () => {
  live.standIn.setFaults([])
  place = busyPlace(live.world, 3)
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  comments = live.world.comments(place) ?? []
})

/** Makes the service answer calls by IDs like this. */
function byIds(respond: (ids: readonly number[]) => readonly unknown[]): FaultRule {
  return {
    kind: 'custom',
    match: ({ data }) => 'commentIds' in data,
    respond: ({ data }, response) => {
      const { commentIds = [] } = data as { commentIds?: readonly number[] }
      const items = respond(commentIds).map((item) => JSON.stringify(item))
      response.end(successBody('comments', items))
    },
  }
}

async function deletedIds(): Promise<unknown[]> {
  const rows = await live.rows(
    'select comment_id from collab.comments where deleted_at is not null order by 1',
  )
  return rows.map(({ comment_id: id }) => id)
}

test('after a call by IDs that failed, the same bytes of the listing lead to that call again', async () => {
  const before = await deletedIds()
  const [{ commentId }] = comments as [Comment]
  deleteComment(live.world, place, commentId)
  live.standIn.setFaults([{ kind: 'bad-request', match: ({ data }) => 'commentIds' in data }])
  expect(await live.run()).toMatchObject({ status: 'partial', comments_deleted: 0 })
  expect(await deletedIds()).toEqual(before)
  live.standIn.setFaults([])
  expect(await live.run()).toMatchObject({ status: 'succeeded', comments_deleted: 1 })
  expect(await deletedIds()).toEqual([...before, commentId])
})

test('a null in a response with its items at other places, too few or too many deletes nothing', async () => {
  const before = await deletedIds()
  const [first, second, ...others] = comments as [Comment, Comment, ...Comment[]]
  const listing = listingComments(place, others)
  for (const items of [
    [second, null],
    [null, first],
    [null],
    [null, second, null],
    [null, { ...second, commentId: String(second.commentId) }],
    [null, second.commentId],
  ]) {
    live.standIn.setFaults([byIds(() => items), listing])
    const run = await live.run({ scope: scopeOf(place) })
    expect(run, JSON.stringify(items)).toMatchObject({ scopes_failed: 1, comments_deleted: 0 })
  }
  expect(await deletedIds()).toEqual(before)
  live.standIn.setFaults([byIds(() => [null, second]), listing])
  expect(await live.run({ scope: scopeOf(place) })).toMatchObject({ comments_deleted: 1 })
  expect(await deletedIds()).toEqual([...before, first.commentId])
})

test('a comment whose record in the listing is rejected is there: it is not asked for by its ID', async () => {
  const commentId = addComment(live.world, place, { text: 'to be rejected' })
  await live.run()
  const before = await deletedIds()
  const listed = live.world.comments(place) ?? []
  const odd = listed.map((each) =>
    each.commentId === commentId ? { ...each, filler: 'x'.repeat(16_000_001) } : each,
  )
  live.standIn.setFaults([byIds((ids) => ids.map(() => null)), listingComments(place, odd)])
  live.standIn.calls.reset()
  expect(await live.run({ scope: scopeOf(place) })).toMatchObject({
    records_rejected: 1,
    comments_deleted: 0,
  })
  expect(live.standIn.calls.total).toBe(1)
  expect(await deletedIds()).toEqual(before)
})
