import { beforeEach, expect, test } from 'vitest'
import { wordDiff } from '../../src/client/life.ts'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import { UsageError } from '../../src/base/errors.ts'
import {
  addComment,
  deleteComment,
  edit,
  joinGroup,
  leaveDocument,
  restoreComment,
} from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { Thing, ThingRequest } from '../../src/schemas/thing.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { onApp } from './on-app.ts'

let live: Live
let collabSync: CollabSync
let place: Place

beforeEach(async () => {
  live = await openLoaded('none')
  collabSync = onApp(await live.openApp())
  const busy = [...places(live.world)].find((each) => (live.world.comments(each) ?? []).length > 2)
  if (busy === undefined) throw new Error('The world has no busy annotation.')
  place = busy
})

test('a comment says why it is here or gone, by which run, and what each version changed', async () => {
  const commentId = addComment(live.world, place, { text: 'one two three' })
  const added = await run()
  const here = await get({ ...place, commentId })
  expect(here.why).toMatchObject({ state: 'here', runId: added })
  expect(here.why.sentence).toBe('The last good response for its annotation contained it.')
  expect(here.checked).toMatchObject({ runId: added, isStale: false, failingSince: null })
  expect(here.record).toMatchObject({ commentId, commentText: 'one two three' })

  edit(live.world, place, commentId, { text: 'one 2 three', status: 'updated' })
  const edited = await run()
  deleteComment(live.world, place, commentId)
  const deleted = await run()
  const gone = await get({ ...place, commentId })
  expect(gone.why).toMatchObject({ state: 'gone', runId: deleted })
  expect(gone.why.sentence).toMatch(/^The service returned null for its ID\./)
  expect(gone.life.items.map(({ sentence, runId }) => [sentence, runId])).toEqual([
    ['Version 3: the service returned null for its ID.', deleted],
    ['Version 2: the text changed, the status changed to updated.', edited],
    ['Version 1: first seen.', added],
  ])
  expect(gone.life.items[1]?.diff).toEqual([
    { change: 'same', text: 'one ' },
    { change: 'removed', text: 'two' },
    { change: 'added', text: '2' },
    { change: 'same', text: ' three' },
  ])
  restoreComment(live.world, place, commentId)
  await run()
  const back = await get({ ...place, commentId, limit: 1 })
  expect(back.why.state).toBe('here')
  expect(back.life.items.map(({ sentence }) => sentence)).toEqual([
    'Version 4: the service returned it again.',
  ])
  const older = await get({ ...place, commentId, limit: 2, lifeCursor: back.life.nextCursor ?? '' })
  expect(older.life.items.map(({ sentence }) => sentence.slice(0, 9))).toEqual([
    'Version 3',
    'Version 2',
  ])

  const { items } = await collabSync.listOrganizations()
  const rows = await live.rows(`select o.organization_id as "organizationId", count(c) as comments
    from collab.organizations o left join collab.comments c on c.organization_id = o.organization_id and c.deleted_at is null
    group by 1 order by 1`)
  expect(items).toMatchObject(rows)

  // Another author makes no version.
  const { live: served, deleted: gones } = live.world.thread(place) ?? { live: [], deleted: [] }
  const from = { userId: 'another', name: 'Another', email: 'another@example.com' }
  const of = (each: Comment) => (each.commentId === commentId ? { ...each, from } : each)
  live.world.putThread(place, { live: served.map(of), deleted: gones })
  await run()
  const [current] = (await get({ ...place, commentId })).life.items
  expect(current?.sentence).toMatch(
    /^Version 4: the service returned it again\. Something else, such as the author, changed at /,
  )

  // The feed is pruned, and the oldest version with it.
  await live.database.pool.query('delete from collab_store.changes')
  await live.database.pool.query('delete from collab_store.comment_versions where version = 1')
  const pruned = await get({ ...place, commentId })
  expect(pruned.life.items.map(({ runId }) => runId)).toEqual([null, null, null])
  expect(pruned.life.items.at(-1)).toMatchObject({
    sentence: 'Version 2: the oldest stored version (edited); earlier versions were pruned.',
    diff: [{ change: 'same', text: 'one 2 three' }],
  })
})

test('a failing annotation comes first in its document and its organization, and says when it was mended', async () => {
  const { organizationId, documentId, annotationId } = place
  await run()
  live.standIn.setFaults([
    {
      kind: 'forbidden',
      match: { operation: 'comments', organizationId, documentId, annotationId },
    },
  ])
  const failed = await run('partial')
  const annotation = await get(place)
  expect(annotation.checked).toMatchObject({ isStale: true, failingSince: expect.any(Date) })
  expect(annotation.actions).toEqual(['sync', 'retry', 'hint', 'remove'])
  expect(annotation.life.items[0]).toMatchObject({ event: 'failed', runId: failed })
  expect(annotation.life.items[0]?.sentence).toMatch(/^The fetch failed after \d+ calls?: /)
  const document = await get({ organizationId, documentId })
  expect(document.facts).toMatchObject({ failing: 1, active: true })
  expect(document.beneath.items[0]).toMatchObject({
    kind: 'annotation',
    ids: place,
    state: 'failing',
  })
  const organization = await get({ organizationId })
  expect(organization.facts).toMatchObject({ failing: 1 })
  expect(organization.beneath.items[0]).toMatchObject({
    ids: { organizationId, documentId },
    state: 'failing',
  })
  live.standIn.setFaults([])
  const mended = await run()
  const { life } = await get(place)
  expect(life.items.map(({ event, runId }) => [event, runId]).slice(0, 2)).toEqual([
    ['resolved', mended],
    ['failed', failed],
  ])
})

test('a user says where, since when, and what name was theirs before', async () => {
  const { organizationId } = place
  const [userGroupId = ''] = [...live.world.groupIds(organizationId)]
  const members = (live.world.groupMembers(organizationId, userGroupId) ?? []).map(
    (each) => each.userId,
  )
  const [documentId, userId] = [...live.world.documentIds(organizationId)]
    .flatMap((id) =>
      (live.world.documentUsers(organizationId, id) ?? []).map(
        (user) => [id, user.userId] as const,
      ),
    )
    .find(([, id]) => !members.includes(id)) ?? ['', '']
  const old = live.world.users(organizationId)?.find((user) => user.userId === userId)
  const before = old?.name
  await run()
  live.world.putUser(organizationId, { ...old, userId, name: 'Ada Newname' })
  leaveDocument(live.world, organizationId, documentId, userId)
  joinGroup(live.world, organizationId, userGroupId, userId)
  const changed = await run()
  const user = await get({ organizationId, userId })
  expect(user).toMatchObject({ kind: 'user', name: 'Ada Newname', why: { state: 'here' } })
  const mine = user.life.items.filter(({ runId }) => runId === changed)
  expect(mine.map(({ sentence }) => sentence).toSorted()).toEqual(
    [
      `The name changed from ${JSON.stringify(before)} to "Ada Newname".`,
      `The listing of document ${documentId} no longer contained the user.`,
      `The listing of user group ${userGroupId} contained the user.`,
    ].toSorted(),
  )
  expect(user.beneath.items).toContainEqual(
    expect.objectContaining({
      kind: 'userGroup',
      ids: { organizationId, organizationUserGroupId: userGroupId },
      since: expect.any(Date),
    }),
  )
  const document = await get({ organizationId, documentId })
  expect(document.life.items).toContainEqual(
    expect.objectContaining({
      event: 'left',
      user: { userId, name: 'Ada Newname' },
      runId: changed,
    }),
  )
  const group = await get({ organizationId, organizationUserGroupId: userGroupId })
  expect(group.beneath.items).toContainEqual(
    expect.objectContaining({ kind: 'user', ids: { organizationId, userId }, name: 'Ada Newname' }),
  )
  live.world.dropUser(organizationId, userId)
  const removed = await run()
  expect((await get({ organizationId, userId })).why).toMatchObject({
    state: 'gone',
    runId: removed,
  })
})

test('a user shows how many comments they wrote, where, and the last ones, whatever their times are', async () => {
  const { organizationId } = place
  const userId = live.world.users(organizationId)?.[0]?.userId ?? ''
  const from = { userId, name: 'Ada', email: 'ada@example.com' }
  // Two days, many of one time, one far in the past, and two without a time.
  const times = ['0001-02-03T00:00:00.000Z', null, ...Array(14).fill('2026-03-02T10:00:00.000Z')]
  const written = times.map(() => addComment(live.world, place, { text: 'hello', from }))
  const thread = (live.world.comments(place) ?? []).map((comment) => {
    const index = written.indexOf(comment.commentId)
    return index < 0 ? comment : ({ ...comment, lastUpdated: times[index] } as Comment)
  })
  live.world.putThread(place, { live: thread, deleted: [] })
  await run()
  const oracle = () =>
    live.rows(
      `select document_id, (count(*) filter (where deleted_at is null))::int as comments,
        (count(*) filter (where deleted_at is not null))::int as deleted
      from collab.comments where organization_id = $1 and author_user_id = $2 group by 1 order by 2 desc, 1`,
      organizationId,
      userId,
    )
  const sumOf = (rows: Awaited<ReturnType<typeof oracle>>) => ({
    comments: rows.reduce((sum, row) => sum + Number(row['comments']), 0),
    deletedComments: rows.reduce((sum, row) => sum + Number(row['deleted']), 0),
  })
  const rows = await oracle()
  const user = await get({ organizationId, userId })
  expect(user.facts).toMatchObject(sumOf(rows))
  const documents = user.beneath.items.filter(({ kind }) => kind === 'document')
  const counted = documents.map(({ ids, comments }) => ({
    document_id: ids.documentId,
    comments,
  }))
  expect(counted.filter(({ comments }) => comments !== 0)).toEqual(
    rows.map(({ document_id, comments }) => ({ document_id, comments })),
  )
  const lastOf = (thing: Thing) => ('lastComments' in thing ? thing.lastComments : [])
  expect(lastOf(user)).toHaveLength(10)
  const newest = await live.rows(
    `select comment_id::int as id from collab.comments where organization_id = $1 and author_user_id = $2 and deleted_at is null
    order by written_at desc nulls last, document_id, annotation_id, comment_id limit 10`,
    organizationId,
    userId,
  )
  expect(lastOf(user).map(({ ids }) => ids.commentId)).toEqual(newest.map(({ id }) => id))

  for (const commentId of written.slice(0, 3)) deleteComment(live.world, place, commentId)
  await run()
  const fewer = await get({ organizationId, userId })
  expect(fewer.facts).toMatchObject({ ...sumOf(await oracle()), deletedComments: 3 })
  const author = { kind: 'user', facts: { comments: 0 }, lastComments: [] }
  const silent = (live.world.users(organizationId) ?? []).map(({ userId: id }) => id).at(-1) ?? ''
  await live.rows(
    'update collab_store.comments set author_user_id = null where author_user_id = $1',
    silent,
  )
  expect(await get({ organizationId, userId: silent })).toMatchObject(author)
})

test('what is above a thing has its name, if one is known', async () => {
  await run()
  await live.rows(
    "update collab_store.organizations set name = 'Acme' where organization_id = $1",
    place.organizationId,
  )
  const { organizationId, documentId, annotationId } = place
  const { commentId = 0 } = (live.world.comments(place) ?? [])[0] ?? {}
  expect((await get({ ...place, commentId })).above).toEqual([
    { ids: { organizationId }, name: 'Acme' },
    { ids: { organizationId, documentId }, name: null },
    { ids: { organizationId, documentId, annotationId }, name: null },
  ])
  expect((await get({ organizationId })).above).toEqual([])
})

test('a held removal shows on the user and the organization, and so does who accepted it', async () => {
  const { organizationId } = place
  const userId = live.world.users(organizationId)?.[0]?.userId ?? ''
  await run()
  live.standIn.setFaults([{ kind: 'empty-list', match: { organizationId, operation: 'users' } }])
  const holding = await run('partial')
  const held = await get({ organizationId, userId })
  expect(held.why).toMatchObject({ state: 'here', runId: holding, at: expect.any(Date) })
  expect(held.why.sentence).toMatch(
    /did not contain the user\. .* contained 0 users; .* has been held since/,
  )
  const [first] = (await get({ organizationId })).life.items
  expect(first).toMatchObject({ event: 'held', runId: holding })
  const { items } = await collabSync.listHeld()
  const own = items.find((each) => each.kind === 'organization')
  await collabSync.acceptHeld(own?.heldId ?? 0, { reason: 'they left' })
  const gone = await get({ organizationId, userId })
  expect(gone.why).toMatchObject({ state: 'gone', runId: null })
  expect(gone.why.sentence).toMatch(/ a test accepted the removal at .+: they left\.$/)
  expect(gone.life.items.map(({ sentence }) => sentence)).toContainEqual(
    expect.stringMatching(/^a test accepted the removal of \d+ users: they left\.$/),
  )
})

test('while an erasure is under way, things it may concern say so', async () => {
  const { organizationId } = place
  const other = [...live.world.organizationIds()].find((id) => id !== organizationId) ?? ''
  await live.database.pool.query(
    `insert into sync.erasures (organization_id, pseudonym, reason) values ($1, 'erased:x', 'a test')`,
    [organizationId],
  )
  expect((await get({ organizationId })).isErasing).toBe(true)
  expect((await get(place)).isErasing).toBe(true)
  expect((await get({ organizationId: other })).isErasing).toBe(false)
})

test('a thing that left the catalog says by which import, and is not fetched', async () => {
  const { organizationId, documentId } = place
  await run()
  await collabSync.removeFromCatalog({ lines: [{ organizationId, documentId }] })
  const document = await get({ organizationId, documentId })
  expect(document.why).toMatchObject({ state: 'not_in_catalog', at: expect.any(Date) })
  expect(document.why.sentence).toMatch(
    /^Taken out of the catalog by import \d+ \(catalog remove, requested by a test\)\./,
  )
  expect(document.checked.next).toBe('Never: it is not in the catalog.')
  expect(document.actions).toEqual(['add'])
  expect(document.life.items.map(({ event }) => event)).toContain('catalog')
  const [comment] = (await get(place)).beneath.items
  if (comment === undefined) throw new Error('The annotation has no comment.')
  expect((await get(comment.ids)).why.state).toBe('not_in_catalog')
  await collabSync.addToCatalog({ lines: [place] })
  expect((await get(place)).why.sentence).toMatch(/^Taken into the catalog again by import \d+/)
})

test('an erased user is found by the pseudonym alone, with places and times', async () => {
  const { organizationId } = place
  const [user] = live.world.users(organizationId) ?? []
  if (user === undefined) throw new Error('The organization has no user.')
  const commentId = addComment(live.world, place, { text: 'mine', from: user })
  await run()
  const { pool } = live.database
  const { pseudonym, erasureId } = await eraseUser(pool, {
    userId: user.userId,
    organizationId: null,
    reason: 'asked by letter',
  })
  expect(await collabSync.getThing({ organizationId, userId: user.userId })).toBeNull()
  const erased = await get({ organizationId, userId: pseudonym })
  expect(erased.why).toMatchObject({ state: 'erased' })
  expect(erased.why.sentence).toContain(`by erasure ${erasureId}`)
  expect(erased.life.items.map(({ event }) => event)).toContain('erased')
  const comment = await get({ ...place, commentId })
  expect(comment.facts).toMatchObject({ text: null, authorUserId: pseudonym, authorName: null })
  expect(comment.life.items.every(({ diff }) => diff === null)).toBe(true)
})

test('what is not stored is null, and ids that name nothing are refused', async () => {
  const { organizationId, documentId, annotationId } = place
  expect(await collabSync.getThing({ ...place, commentId: 999_999 })).toBeNull()
  expect(await collabSync.getThing({ organizationId: 'nowhere' })).toBeNull()
  expect(await collabSync.getThing({ organizationId, userId: 'nobody' })).toBeNull()
  expect(await collabSync.getThing({ organizationId, documentId: 'nothing' })).toBeNull()
  for (const wrong of [
    { organizationId, annotationId },
    { organizationId, documentId, userId: 'ann' },
    { organizationId, documentId, commentId: 1 },
  ])
    await expect(collabSync.getThing(wrong)).rejects.toThrow('the ids do not name a thing')
  for (const member of ['lifeCursor', 'beneathCursor'])
    await expect(collabSync.getThing({ ...place, [member]: 'AAAA' })).rejects.toThrow(
      new UsageError(`${member} must be the nextCursor of a page of the same listing.`),
    )
})

test('two texts are compared by words, and long ones shown whole', () => {
  expect(wordDiff('a cat sat', 'a dog sat')).toEqual([
    { change: 'same', text: 'a ' },
    { change: 'removed', text: 'cat' },
    { change: 'added', text: 'dog' },
    { change: 'same', text: ' sat' },
  ])
  expect(wordDiff('我喜欢猫', '我喜欢狗').filter(({ change }) => change !== 'same')).toEqual([
    { change: 'removed', text: '猫' },
    { change: 'added', text: '狗' },
  ])
  const long = 'word '.repeat(1001)
  expect(wordDiff(long, `${long}more`)).toEqual([
    { change: 'removed', text: long },
    { change: 'added', text: `${long}more` },
  ])
})

async function run(status = 'succeeded'): Promise<string> {
  const done = await live.run()
  expect(done.status).toBe(status)
  return done.run_id
}

async function get(request: ThingRequest): Promise<Thing> {
  const found = await collabSync.getThing(request)
  if (found === null) throw new Error(`There is no ${JSON.stringify(request)}.`)
  return found
}
