import { expect, test } from 'vitest'
import { ATTEMPTS_MAX } from '../../src/core/run/claim.ts'
import { addComment, deleteComment, edit, leaveDocument } from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import { claimItem } from '../../src/core/database/claims.ts'
import type { Item } from '../../src/core/database/claims.ts'
import { AS_RUN, planPage, startRun } from '../../src/core/run/start.ts'
import { endDirectly, runDirectly } from '../helpers/direct-run.ts'
import { expectTablesEqual, rowsTouched } from '../helpers/expect-equal.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { busyPlace, busyPlaces, scopeOf } from '../helpers/places.ts'

/** What runs write, one after another over the same tables: each test begins with what those before it left. */

const live = await openLoaded('none')

/** The scope of a run of one user. */
function scopeOfUser() {
  const [organizationId = ''] = live.world.organizationIds()
  const [user] = live.world.users(organizationId) ?? []
  return { organizationIds: [organizationId], userIds: [user?.userId] }
}

test('a run of some users fetches them by their IDs, touches no membership and is no check of the listing', async () => {
  const scope = scopeOfUser()
  const {
    organizationIds: [organizationId],
    userIds,
  } = scope
  live.standIn.calls.reset()
  const run = await live.run({ scope })
  expect(run).toMatchObject({ status: 'succeeded', users_written: 1, calls: 1 })
  expect(live.standIn.calls.log.map(({ data }) => data)).toEqual([{ organizationId, userIds }])
  const rows = await live.rows('select user_id, listed from collab.users')
  expect(rows).toEqual([{ user_id: userIds[0], listed: false }])
  const checked = 'select from collab_store.checks where checked_at is not null'
  expect(await live.rows(checked)).toEqual([])
})

test('a user whom a run of some users of a document changed is compared with the next listing, even one of the same bytes', async () => {
  const { organizationId, documentId } = busyPlace(live.world, 1, 1)
  const [{ userId = '' } = {}] = live.world.documentUsers(organizationId, documentId) ?? []
  const user = live.world.users(organizationId)?.find((each) => each.userId === userId)
  if (user === undefined) throw new Error('The world has no such user.')
  await live.run()
  live.world.putUser(organizationId, { ...user, name: 'for a moment' })
  const scope = { organizationIds: [organizationId], documentId, userIds: [userId] }
  expect(await live.run({ scope })).toMatchObject({ status: 'succeeded', users_written: 1 })
  live.world.putUser(organizationId, user)
  expect(await live.run()).toMatchObject({ status: 'succeeded', users_written: 1 })
  await expectTablesEqual(live.database, live.world)
})

test('a comment that a run of some comments changed is compared with the next listing, even one of the same bytes', async () => {
  const place = busyPlaces(live.world, 1, 1).at(-1) as Place
  const { live: [comment, ...others] = [], deleted = [] } = live.world.thread(place) ?? {}
  if (comment === undefined) throw new Error('The world has no such comment.')
  await live.run()
  live.world.putThread(place, {
    live: [{ ...comment, status: 'for a moment' }, ...others],
    deleted,
  })
  const scope = { ...scopeOf(place), commentIds: [comment.commentId] }
  expect(await live.run({ scope })).toMatchObject({ status: 'succeeded', comments_written: 1 })
  live.world.putThread(place, { live: [comment, ...others], deleted })
  expect(await live.run()).toMatchObject({ status: 'succeeded', comments_written: 1 })
  await expectTablesEqual(live.database, live.world)
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

test('a second run over an unchanged service, and one of a user, touch no row', async () => {
  const before = await rowsTouched(live.database)
  const run = await live.run()
  expect(run).toMatchObject({ status: 'succeeded', records_inserted: 0, records_updated: 0 })
  expect(run['records_unchanged']).toBeGreaterThan(100)
  expect(await live.run({ scope: scopeOfUser() })).toMatchObject({ status: 'succeeded' })
  expect(await rowsTouched(live.database)).toBe(before)
})

test.each([
  [ATTEMPTS_MAX - 1, 'succeeded'],
  [ATTEMPTS_MAX, 'failed'],
])('a batch that was begun %i times before: the run has %s', async (attempts, status) => {
  const app = await live.openApp()
  const { organizationId, documentId } = busyPlace(live.world)
  const scope = { organizationIds: [organizationId], documentId }
  const { runId, items } = await startRun(app.sync, { ...AS_RUN, scope })
  await live.rows('update sync.run_items set attempts = $2 where run_id = $1', runId, attempts)
  await endDirectly(app, runId, items)
  const [run] = await live.rows('select status from sync.runs where run_id = $1', runId)
  expect(run).toEqual({ status })
})

test('a batch that was partly committed continues with the scopes that no commit has done', async () => {
  const { organizationId, documentId } = busyPlace(live.world)
  const scope = { organizationIds: [organizationId], documentId, operations: ['comments' as const] }
  const app = await live.openApp({ SYNC_CONCURRENCY: '1' })
  const bits = async (runId: string) => {
    const [item] = await live.rows(
      `select only_scopes::text as wanted, done_scopes::text as done from sync.run_items where run_id = $1`,
      runId,
    )
    const numbers = (text: string | null) =>
      [...(text ?? '')].flatMap((bit, n) => (bit === '1' ? n : []))
    return { wanted: numbers(item.wanted), done: numbers(item.done) }
  }
  // Half a second after the first response, and again, it is stored.
  live.standIn.latencyMs = 200
  const whole = await runDirectly(app, { ...AS_RUN, scope })
  live.standIn.latencyMs = 0
  const { wanted, done } = await bits(whole)
  expect(wanted.length).toBeGreaterThan(6)
  expect(done).toEqual(wanted)
  const { runId: interrupted, items } = await startRun(app.sync, { ...AS_RUN, scope })
  await live.rows(
    `update sync.run_items set done_scopes = set_bit(repeat('0', 256)::varbit, $2, 1) where run_id = $1`,
    interrupted,
    wanted[0],
  )
  live.standIn.calls.reset()
  await endDirectly(app, interrupted, items)
  expect(live.standIn.calls.total).toBe(wanted.length - 1)
  expect(await bits(interrupted)).toEqual({ wanted, done: wanted })
})

test.each([
  ['everything', {}, false],
  ['named organizations', { organizationIds: [...live.world.organizationIds()].slice(0, 1) }, true],
])('the items of a run of %s: scoped %s', async (_, scope, isScoped) => {
  const app = await live.openApp()
  const { runId, items } = await startRun(app.sync, { ...AS_RUN, scope })
  expect(new Set(items.map((item) => item.isScoped))).toEqual(new Set([isScoped]))
  await endDirectly(app, runId, items)
})

test('a commit that PostgreSQL ends as a deadlock is made again, and counts once', async () => {
  addComment(live.world, busyPlace(live.world), { text: 'Counted once' })
  await live.database.pool.query(`
    create sequence public.tries;
    create function public.deadlock_once() returns trigger language plpgsql as $$
    begin
      if nextval('public.tries') = 1 then raise exception using errcode = '40P01'; end if;
      return null;
    end $$;
    create constraint trigger deadlock_once after insert on collab_store.comments
    deferrable initially deferred for each row execute function public.deadlock_once()`)
  expect(await live.run()).toMatchObject({
    status: 'succeeded',
    records_inserted: 1,
    comments_written: 1,
  })
  expect(await live.rows('select last_value::int as tries from public.tries')).toEqual([
    { tries: 2 },
  ])
  await live.database.pool.query(
    'drop function public.deadlock_once cascade; drop sequence public.tries',
  )
})

test('a run beside another one fetches what that one had claimed before its request, or failed to fetch', async () => {
  const { sync } = await live.openApp()
  const request = { trigger: 'cli', scope: {}, requestKey: null } as const
  const first = await startRun(sync, request)
  const planned: Item[] = []
  for (const page of first.items) planned.push(...(await planPage(sync, page)))
  const [early, ...late] = planned.filter(({ kind }) => kind === 'sync-batch')
  await claimItem(sync.database, early as Item, sync.workerId)
  const second = await startRun(sync, request)
  const [place] = [...places(live.world)].slice(-1)
  live.standIn.setFaults([{ kind: 'forbidden', match: { operation: 'comments', ...place } }])
  await endDirectly({ sync }, first.runId, [early as Item, ...late])
  const checks = () =>
    live.rows('select batch_key, checked_at from collab_store.batches order by batch_key')
  const before = await checks()
  live.standIn.setFaults([])
  live.standIn.calls.reset()
  await endDirectly({ sync }, second.runId, second.items)
  const [run] = await live.rows('select * from sync.runs where run_id = $1', second.runId)
  const [{ scopes, key }] = await live.rows(
    `select scopes, batch_key::int as key from collab_store.batches
    where batch_key = (select batch_key from sync.run_items where item_id = $1)`,
    early?.itemId,
  )
  expect(live.standIn.calls.total).toBe(scopes + 1)
  const [{ all }] = await live.rows('select sum(scopes)::int as all from collab_store.batches')
  expect(run).toMatchObject({ status: 'succeeded', calls: scopes + 1, scopes_succeeded: all })
  const changed = (await checks()).filter((row, n) => row.checked_at > before[n]?.checked_at)
  expect(changed.map(({ batch_key }) => Number(batch_key))).toEqual([key])
  expect(await live.rows('select from sync.failing_scopes')).toEqual([])
  await expectTablesEqual(live.database, live.world)
})

test('edits, additions, deletions, a come-back and a left document are all in after one more run', async () => {
  const place = busyPlace(live.world, 4, 3)
  const [first, second] = (live.world.comments(place) ?? [])
    .filter(({ commentText }) => commentText !== undefined)
    .map(({ commentId }) => commentId)
  edit(live.world, place, first as number, { text: 'Edited: «Ωμέγα» 你好' })
  const [gone] = (live.world.comments(place) ?? []).filter((each) => each.commentId === second)
  deleteComment(live.world, place, second as number)
  addComment(live.world, place, { text: 'New', from: { userId: 'guest-9', name: 'Guest' } })
  const [member] = live.world.documentUsers(place.organizationId, place.documentId) ?? []
  leaveDocument(live.world, place.organizationId, place.documentId, member?.userId as string)
  const [removed] = (live.world.users(place.organizationId) ?? []).slice(-1)
  live.world.dropUser(place.organizationId, removed?.userId as string)
  expect(await live.run()).toMatchObject({ status: 'succeeded', comments_deleted: 1 })
  await expectTablesEqual(live.database, live.world)
  const deleted = 'select comment_text from collab.comments where deleted_at is not null'
  expect(await live.rows(deleted)).toEqual([{ comment_text: expect.any(String) }])

  // Just as it was: nothing else than its return shows that it changed.
  const thread = live.world.comments(place) ?? []
  live.world.putThread(place, { live: [...thread, gone as Comment], deleted: [] })
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
  const place = busyPlace(live.world, 4, 3)
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
  const place = busyPlace(live.world, 4, 3)
  const [first, second, third] = (live.world.comments(place) ?? []).map(
    ({ commentId }) => commentId,
  )
  edit(live.world, place, first as number, { text: 'one' })
  deleteComment(live.world, place, second as number)
  deleteComment(live.world, place, third as number)
  live.standIn.calls.reset()
  const { organizationId, documentId, annotationId } = place
  // The last one was never there.
  const commentIds = [first, second, 987_654_321]
  const scope = { ...scopeOf(place), commentIds }
  const counts = { status: 'succeeded', records_null: 2, calls: 1 }
  expect(await live.run({ scope })).toMatchObject({
    ...counts,
    records_updated: 1,
    comments_deleted: 1,
  })
  expect(live.standIn.calls.log.map(({ data }) => data)).toEqual([
    { organizationId, documentId, annotationId, commentIds },
  ])
  expect(await live.run({ scope })).toMatchObject({
    ...counts,
    records_updated: 0,
    comments_deleted: 0,
  })
  expect(await live.run()).toMatchObject({ status: 'succeeded', comments_deleted: 1 })
  await expectTablesEqual(live.database, live.world)
})

/** Version, change, and whether it ends just where the next one begins. */
async function versionsOf(live: Live, place: Place, commentId: number): Promise<unknown[]> {
  const rows = await live.rows(
    `select version, change, case when valid_to is null then 'open'
      when valid_to = lead(valid_from) over (order by version) then 'joined' else 'gap' end as until
    from collab.comment_versions
    where (organization_id, document_id, annotation_id, comment_id) = ($1, $2, $3, $4)
    order by version`,
    ...Object.values(place),
    commentId,
  )
  return rows.map(({ version, change, until }) => [version, change, until])
}
