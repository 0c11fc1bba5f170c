import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deleteComment, edit } from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import type { FaultRule } from '../service/faults.ts'
import type { Place } from '../../src/demo/layout.ts'
import { openPrivacy } from '../../src/privacy/privacy.ts'
import type { PrivacyPolicy } from '../../src/privacy/privacy.ts'
import { replayRejected } from '../../src/sync/replay/replay.ts'
import { dumpTables } from '../helpers/dump-tables.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openLive } from '../helpers/live.ts'
import type { Live, RunRow } from '../helpers/live.ts'

let live: Live
let run: RunRow

// Today's readers reject what they rejected: what an older program could not store is put there by hand.
beforeEach(async () => {
  live = await openLive('postgres')
  await live.importCatalog()
  run = await live.run()
})
afterEach(() => live.close())

test('a comment that was rejected as a whole is stored with its author, once, and without a call', async () => {
  const place = busyPlace()
  const comment = commentOf(place)
  await query(`delete from collab_store.comments where ${AT}`, place, comment.commentId)
  await reject('comments', place, comment)
  const calls = live.standIn.calls.total

  expect(await replay()).toEqual({ tried: 1, stored: 1, still: 0, obsolete: 0 })

  await expectTablesEqual(live.database, live.world)
  expect(live.standIn.calls.total).toBe(calls)
  const after = await dumpTables(live.database)
  expect(await replay()).toEqual({ tried: 0, stored: 0, still: 0, obsolete: 0 })
  expect(await dumpTables(live.database)).toEqual(after)
  expect(await live.run()).toMatchObject({ status: 'succeeded', records_inserted: 0 })
  await expectTablesEqual(live.database, live.world)
})

test('a member that was set to null gets its value, however many rows tell of the record', async () => {
  const place = busyPlace()
  const comment = commentOf(place)
  await query(
    `update collab_store.comments set comment_text = null, status = null, digest = '\\x00' where ${AT}`,
    place,
    comment.commentId,
  )
  await reject('comments', place, comment)
  await reject('comments', place, comment)
  expect(await replay()).toEqual({ tried: 2, stored: 2, still: 0, obsolete: 0 })
  await expectTablesEqual(live.database, live.world)
})

test('a record is not stored over a newer answer, nor brought back after one that lacked it', async () => {
  const place = busyPlace()
  const [edited, deleted] = commentsOf(place)
  await reject('comments', place, edited)
  await reject('comments', place, deleted)
  await query(`delete from collab_store.comments where ${AT}`, place, deleted.commentId)
  edit(live.world, place, edited.commentId, { text: 'Newer' })
  deleteComment(live.world, place, deleted.commentId)
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  const before = await dumpTables(live.database)
  expect(await replay()).toEqual({ tried: 2, stored: 0, still: 2, obsolete: 2 })
  expect(await dumpTables(live.database)).toEqual(before)
  await expectTablesEqual(live.database, live.world)
})

test('of two answers the later one is stored, and the earlier one never over it', async () => {
  const place = busyPlace()
  const comment = commentOf(place)
  await query(`delete from collab_store.comments where ${AT}`, place, comment.commentId)
  await reject('comments', place, { ...comment, commentText: 'Earlier' })
  await reject('comments', place, comment)
  expect(await replay()).toEqual({ tried: 2, stored: 1, still: 1, obsolete: 1 })
  expect(await replay()).toEqual({ tried: 1, stored: 0, still: 1, obsolete: 1 })
  await expectTablesEqual(live.database, live.world)
})

test('the lesser of two records of one comment in one answer stays rejected', async () => {
  const place = busyPlace()
  await reject('comments', place, { ...commentOf(place), commentText: 'The twin' })
  expect(await replay()).toEqual({ tried: 1, stored: 0, still: 1, obsolete: 1 })
  await expectTablesEqual(live.database, live.world)
})

test('what is not sound today either stays rejected, and its neighbours land', async () => {
  const place = busyPlace()
  const [one, ...others] = commentsOf(place)
  for (const { commentId } of others)
    await query(`delete from collab_store.comments where ${AT}`, place, commentId)
  for (const comment of others) await reject('comments', place, comment)
  await reject('comments', place, { ...one, commentText: 'with a \0' })
  await rejectText('comments', place, `{"commentId": 9007199254740993, "commentText": "big"}`)
  await rejectText('comments', place, 'null')
  await rejectText('comments', place, '')
  expect(await replay()).toEqual({
    tried: others.length + 4,
    stored: others.length,
    still: 4,
    obsolete: 0,
  })
  await expectTablesEqual(live.database, live.world)
})

test('a record of a scope that is not in the catalog any more stays rejected', async () => {
  const place = busyPlace()
  await reject('comments', { ...place, annotationId: 'gone' }, commentOf(place))
  await query(`delete from collab_store.comments where ${AT}`, place, commentOf(place).commentId)
  await reject('comments', place, commentOf(place))
  await live.database.pool.query(
    'update collab_store.annotations set active = false where annotation_id = $1',
    [place.annotationId],
  )
  expect(await replay()).toEqual({ tried: 2, stored: 0, still: 2, obsolete: 2 })
})

test('a user of a document, a group and an organization gets row and membership back', async () => {
  const { organizationId, documentId } = busyPlace()
  const { world } = live
  const [user] = world.documentUsers(organizationId, documentId) ?? []
  const organizationUserGroupId = [...world.groupIds(organizationId)].find(
    (id) => (world.groupMembers(organizationId, id)?.length ?? 0) > 0,
  ) as string
  const [member] = world.groupMembers(organizationId, organizationUserGroupId) ?? []
  const listed = world.users(organizationId)?.at(-1)
  const userIds = [user, member, listed].map((each) => each?.userId)
  await inOrganization('delete from collab_store.users where user_id = any($2) and', userIds)
  await inOrganization(
    `delete from collab_store.document_users where user_id = any($2) and document_key in (
      select document_key from collab_store.documents where document_id = '${documentId}' and`,
    [user?.userId],
    ')',
  )
  await inOrganization(
    `delete from collab_store.user_group_members where user_id = any($2) and user_group_key in (
      select user_group_key from collab_store.user_groups
      where organization_user_group_id = '${organizationUserGroupId}' and`,
    [member?.userId],
    ')',
  )
  await reject('users', { organizationId, documentId }, user)
  await reject('users', { organizationId, organizationUserGroupId }, member)
  for (const each of [user, member, listed]) await reject('users', { organizationId }, each)

  expect(await replay()).toEqual({ tried: 5, stored: 5, still: 0, obsolete: 0 })

  await expectTablesEqual(live.database, world)
  expect(await live.run()).toMatchObject({ status: 'succeeded', records_inserted: 0 })
  await expectTablesEqual(live.database, world)

  async function inOrganization(statement: string, ids: unknown[], end = ''): Promise<void> {
    const { rowCount } = await live.database.pool.query(
      `${statement} organization_key = (
        select organization_key from collab_store.organizations where organization_id = $1)${end}`,
      [organizationId, ids],
    )
    expect(rowCount).toBe(new Set(ids).size)
  }
})

test('what was written after the rejection stays as it is, also where that left a member out', async () => {
  const place = busyPlace()
  const { organizationId } = place
  const [user] = live.world.users(organizationId) ?? []
  await reject('users', { organizationId }, user)
  await reject('comments', place, commentOf(place))
  await live.database.pool.query(
    `update collab_store.users set name = null, digest = '\\x00', changed_at = now() + interval '2 ms' where user_id = $1`,
    [user?.userId],
  )
  await query(
    `update collab_store.comments set status = null, digest = '\\x00', changed_at = now() + interval '2 ms' where ${AT}`,
    place,
    commentOf(place).commentId,
  )
  const before = await dumpTables(live.database)
  expect(await replay()).toEqual({ tried: 2, stored: 0, still: 2, obsolete: 2 })
  expect(await dumpTables(live.database)).toEqual(before)
})

test('a user of an answer about some users only gets a row and is in no listing by it', async () => {
  const { organizationId } = busyPlace()
  const [user] = live.world.users(organizationId) ?? []
  const narrowed = await live.run({
    scope: { organizationIds: [organizationId], userIds: [user?.userId] },
  })
  await live.database.pool.query(
    `delete from collab_store.users where user_id = $2 and organization_key = (
      select organization_key from collab_store.organizations where organization_id = $1)`,
    [organizationId, user?.userId],
  )
  await reject('users', { organizationId }, user, narrowed)
  expect(await replay({ runId: run.run_id })).toMatchObject({ tried: 0 })
  expect(await replay({ runId: narrowed.run_id })).toEqual({
    tried: 1,
    stored: 1,
    still: 0,
    obsolete: 0,
  })
  const { rows } = await live.database.pool.query(
    'select name, listed from collab.users where user_id = $1 and organization_id = $2',
    [user?.userId, organizationId],
  )
  expect(rows).toEqual([{ name: user?.name, listed: false }])
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  await expectTablesEqual(live.database, live.world)
})

test('an answer that came before a replay and was not committed yet is asked for again', async () => {
  const place = busyPlace()
  const { organizationId, documentId, annotationId } = place
  const comment = commentOf(place)
  await query(`delete from collab_store.comments where ${AT}`, place, comment.commentId)
  await reject('comments', place, comment)
  // The service has deleted it meanwhile. A run learns that nothing is missing, and has an answer to wait for still.
  deleteComment(live.world, place, comment.commentId)
  const isOther: FaultRule['match'] = ({ data }) =>
    !('annotationId' in data) || data.annotationId !== annotationId
  let letGo = (): void => {}
  const free = new Promise<void>((resolve) => (letGo = resolve))
  live.standIn.setFaults([{ kind: 'held', until: free, match: isOther }])
  live.standIn.calls.reset()
  const scope = { organizationIds: [organizationId], documentId, operations: ['comments'] }
  const underWay = live.run({ scope })
  const annotations = [...live.world.annotationIds(organizationId, documentId)].length
  while (live.standIn.calls.total < annotations || live.standIn.calls.inFlight >= annotations)
    await sleep(5)
  await sleep(300)
  expect(await replay()).toMatchObject({ stored: 1 })
  expect(live.standIn.calls.inFlight).toBe(annotations - 1)
  letGo()
  expect(await underWay).toMatchObject({ status: 'succeeded', comments_deleted: 1 })
})

test('a record is stored under the privacy of today, not of the day it was received', async () => {
  const place = busyPlace()
  const comment = { ...commentOf(place), from: { userId: 'guest', email: 'guest@example.com' } }
  await query(`delete from collab_store.comments where ${AT}`, place, comment.commentId)
  await reject('comments', place, comment)
  expect(await replay({}, { email: 'drop', raw: 'keep' })).toMatchObject({ stored: 1 })
  const { rows } = await live.database.pool.query(
    `select author_user_id, author_email, raw::text like '%guest@%' as holds_email from collab.comments
    where author_user_id = 'guest'`,
  )
  expect(rows).toEqual([{ author_user_id: 'guest', author_email: null, holds_email: false }])
})

test('more rejected records than a page holds are all tried, the sound among them stored', async () => {
  const place = busyPlace()
  const comment = commentOf(place)
  await query(`delete from collab_store.comments where ${AT}`, place, comment.commentId)
  await reject('comments', place, comment)
  await live.database.pool.query(
    `insert into sync.rejected_records (run_id, operation, organization_id, document_id, annotation_id, reason, record)
    select run_id, operation, organization_id, document_id, annotation_id, reason, 'null'
    from sync.rejected_records cross join generate_series(1, 1200)`,
  )
  expect(await replay()).toEqual({ tried: 1201, stored: 1, still: 1200, obsolete: 0 })
  await expectTablesEqual(live.database, live.world)
})

const AT = `comment_id = $4 and annotation_key = (
  select annotation_key from collab_store.annotations
  join collab_store.documents using (document_key) join collab_store.organizations using (organization_key)
  where organization_id = $1 and document_id = $2 and annotation_id = $3)`

const KEEP = { email: 'keep', raw: 'keep' } as const

function replay(of: { runId?: string } = {}, policy: PrivacyPolicy = KEEP) {
  const privacy = openPrivacy(live.database.pool, policy)
  return replayRejected({ database: live.database.pool, privacy }, of)
}

async function query(statement: string, place: Place, commentId: number): Promise<void> {
  const { organizationId, documentId, annotationId } = place
  const { rowCount } = await live.database.pool.query(statement, [
    organizationId,
    documentId,
    annotationId,
    commentId,
  ])
  expect(rowCount).toBe(1)
}

type RejectedPlace = Partial<Place> & { organizationUserGroupId?: string }

async function reject(operation: string, place: RejectedPlace, record: unknown, of = run) {
  await rejectText(operation, place, JSON.stringify(record), of)
}

async function rejectText(operation: string, place: RejectedPlace, record: string, of = run) {
  await live.database.pool.query(
    `insert into sync.rejected_records (run_id, operation, organization_id, document_id, annotation_id,
      organization_user_group_id, reason, record)
    values ($1, $2, $3, $4, $5, $6, 'an older program could not store it', $7)`,
    [
      of.run_id,
      operation,
      place.organizationId,
      place.documentId,
      place.annotationId,
      place.organizationUserGroupId,
      record,
    ],
  )
}

function busyPlace(): Place {
  for (const place of places(live.world)) {
    const members = live.world.documentUsers(place.organizationId, place.documentId) ?? []
    const hasTexts = (live.world.comments(place) ?? []).every(({ commentText }) => commentText)
    if ((live.world.comments(place)?.length ?? 0) >= 4 && members.length >= 3 && hasTexts)
      return place
  }
  throw new Error('the world has no busy annotation')
}

function commentsOf(place: Place) {
  const [first, second, ...others] = live.world.comments(place) ?? []
  if (first === undefined || second === undefined) throw new Error('too few comments')
  return [first, second, ...others] as const
}

function commentOf(place: Place) {
  return commentsOf(place)[0]
}
