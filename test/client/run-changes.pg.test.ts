import { expect, test } from 'vitest'
import { RECORD_OBJECTS } from '../../src/base/columns.ts'
import { addComment, deleteComment, edit, restoreComment } from '../../src/demo/changes.ts'
import { decideHeld } from '../../src/core/sync/held.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { prune } from '../../src/features/privacy/prune.ts'
import { thingPath } from '../../src/http/pages/things/thing-link.tsx'
import { RUN_CHANGE_COLUMNS } from '../../src/schemas/columns.ts'
import type { RunChange, RunChangesPage } from '../../src/schemas/run-change.ts'
import { UsageError } from '../../src/base/errors.ts'
import { buildCommand } from '../cli/built-command.ts'
import { openLive } from '../helpers/live.ts'
import type { RunRow } from '../helpers/live.ts'
import { firstPlace } from '../helpers/places.ts'
import { BEARER, unlistened } from '../http/served.ts'
import { askPages, unescaped } from '../pages/open-pages.ts'
import { onApp } from './on-app.ts'

const NO_RUN = '00000000-0000-4000-8000-000000000000'
const EDITED = '<script>Edited</script> words'
const PERSON = { userId: 'zzyzx-17', name: 'Wilhelmine Zzyzx', email: 'w@zzyzx.example' }

const command = await buildCommand()
const live = await openLive('none')
const { world, database } = live
const app = await live.openApp()
const collabSync = onApp(app)
const pages = await askPages(app)
const server = await unlistened(app)
const get = (url: string) => server.app.inject({ url, headers: BEARER })
const status = (...args: string[]) =>
  command.run(['status', ...args], { DATABASE_URL: database.url })

const place = firstPlace(world)
const { organizationId: here, documentId } = place
const [, there = ''] = world.organizationIds()
const [groupId = ''] = world.groupIds(here)
const [edited = 0, deleted = 0] = (world.comments(place) ?? []).map(({ commentId }) => commentId)
const idsOf = (users: readonly { userId: string }[] = []) => users.map(({ userId }) => userId)

/** Puts the person in these listings of the first organization, or removes them. */
function put(is: { listed: boolean; member: boolean }): void {
  if (is.listed) world.putUser(here, PERSON)
  const others = (ids: string[]) => ids.filter((userId) => userId !== PERSON.userId)
  const own = is.member ? [PERSON.userId] : []
  world.putDocumentUsers(here, documentId, [
    ...others(idsOf(world.documentUsers(here, documentId))),
    ...own,
  ])
  world.putGroupMembers(here, groupId, [
    ...others(idsOf(world.groupMembers(here, groupId))),
    ...own,
  ])
  if (!is.listed) world.dropUser(here, PERSON.userId)
}

await live.importCatalog()
const first = await live.run()
put({ listed: true, member: true })
addComment(world, place, { text: 'Added words', from: PERSON })
edit(world, place, edited, { text: EDITED })
deleteComment(world, place, deleted)
const second = await live.run()
put({ listed: true, member: false })
const left = await live.run()
put({ listed: false, member: false })
restoreComment(world, place, deleted)
const third = await live.run()
put({ listed: true, member: true })
world.putUser(here, { ...PERSON, email: 'other@zzyzx.example' })
const last = await live.run()
world.putUser(here, { ...PERSON, email: 'third@zzyzx.example' })
const renamed = await live.run()
const unchanged = await live.run()

/** All changes of a run, page by page. */
async function walk(
  { run_id: runId }: RunRow,
  request: Partial<Parameters<typeof collabSync.listRunChanges>[0]> = {},
): Promise<RunChange[]> {
  const all: RunChange[] = []
  for (let cursor: string | undefined; ;) {
    const page = await read({ run_id: runId }, { limit: 40, ...request, cursor })
    all.push(...page.items)
    if (page.nextCursor === null) return all
    cursor = page.nextCursor
  }
}

async function read(
  { run_id: runId }: Pick<RunRow, 'run_id'>,
  request: Partial<Parameters<typeof collabSync.listRunChanges>[0]> = {},
): Promise<RunChangesPage> {
  const page = await collabSync.listRunChanges({ ...request, runId })
  if (page === null) throw new Error(`There is no run ${runId}.`)
  return page
}

const kindOf = ({ object, change }: Pick<RunChange, 'object' | 'change'>) => `${object} ${change}`
const kinds = (changes: readonly RunChange[]) => [...new Set(changes.map(kindOf))].toSorted()

/** Changes by kind. */
function tally(changes: readonly RunChange[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const each of changes) counts[kindOf(each)] = (counts[kindOf(each)] ?? 0) + 1
  return counts
}

test('every object that a run adds or removes is listed, as often as the feed has it', async () => {
  const { rows } = await database.pool.query(
    `select r.run_id, c.object, sum(c.lines)::int as lines
    from sync.runs r join collab_store.changes c using (run_id)
    where c.change in ('added', 'removed', 'deleted') group by 1, 2`,
  )
  expect(new Set(rows.map(({ object }) => object))).toEqual(new Set(RECORD_OBJECTS))
  for (const { run_id, object, lines } of rows) {
    const listed = (await walk({ run_id } as RunRow, { object })).filter(({ change }) =>
      ['added', 'removed', 'deleted'].includes(change),
    )
    expect([run_id, object, listed.length]).toEqual([run_id, object, lines])
  }
})

test('each kind of change is listed, and linked to its page on the page of the run', async () => {
  const runs = [first, second, left, third, last, renamed]
  const found = await Promise.all(runs.map((run) => walk(run)))
  expect(kinds(found.flat())).toEqual(
    [
      ...['added', 'edited', 'deleted', 'restored'].map((change) => `comment ${change}`),
      ...['added', 'edited', 'removed', 'restored'].map((change) => `user ${change}`),
      ...['added', 'removed', 'restored'].map((change) => `document_user ${change}`),
      ...['added', 'removed', 'restored'].map((change) => `user_group_member ${change}`),
    ].toSorted(),
  )
  const of = { ...place, organizationUserGroupId: null, userId: null }
  const person = { organizationId: here, userId: PERSON.userId, name: PERSON.name }
  expect(found[1]).toEqual(
    expect.arrayContaining([
      {
        ...of,
        object: 'comment',
        change: 'edited',
        commentId: edited,
        name: EDITED,
        at: expect.any(Date),
      },
      expect.objectContaining({ ...of, change: 'deleted', commentId: deleted }),
      expect.objectContaining({ ...of, change: 'added', name: 'Added words' }),
      expect.objectContaining({ ...person, object: 'user', change: 'added', documentId: null }),
      expect.objectContaining({ ...person, object: 'document_user', change: 'added', documentId }),
      expect.objectContaining({ ...person, change: 'added', organizationUserGroupId: groupId }),
    ]),
  )
  for (const [number, { run_id: runId }] of runs.entries()) {
    const some = found[number]?.slice(0, 10) ?? []
    const { text } = await pages.page(`/runs/${runId}`)
    expect(text).not.toContain('<script>')
    for (const change of some)
      for (const [, cell] of RUN_CHANGE_COLUMNS) {
        const value = cell(change)
        if (typeof value !== 'object' || value === null || !('ids' in value)) continue
        const path = thingPath(value.ids)
        expect(unescaped(text)).toContain(`href="${path}"`)
        if (number > 0) await pages.page(path)
      }
  }
})

test('the counts are those of the list, and those that the run itself counted', async () => {
  for (const run of [first, second, left, third, last, renamed, unchanged]) {
    const { counts } = await read(run, { limit: 1 })
    const listed = tally(await walk(run))
    expect(Object.fromEntries(counts.map((each) => [kindOf(each), each.count]))).toEqual(listed)
    const sum = (...names: string[]) => names.reduce((all, name) => all + (listed[name] ?? 0), 0)
    expect({
      comments_written: sum('comment added', 'comment edited', 'comment restored'),
      comments_deleted: sum('comment deleted'),
      users_removed: sum('user removed'),
      members_removed: sum('document_user removed', 'user_group_member removed'),
    }).toEqual({
      comments_written: run['comments_written'],
      comments_deleted: run['comments_deleted'],
      users_removed: run['users_removed'],
      members_removed: run['members_removed'],
    })
    const users = sum('user added', 'user edited', 'user removed', 'user restored')
    expect(users).toBeLessThanOrEqual(Number(run['users_written']))
  }
})

test('pages contain each change of the run once, newest first, and no change of another run', async () => {
  const rows = await live.rows(
    `select object, change, comment_id::float8 as "commentId"
    from collab_store.changes c, unnest(c.keys, c.comment_ids) with ordinality n (key, comment_id, place)
    where run_id = $1 and object in ('comment', 'user', 'document_user', 'user_group_member')
    order by number desc, place desc`,
    first.run_id,
  )
  expect(rows.length).toBeGreaterThan(400)
  const listed = await walk(first)
  expect(listed.map(({ object, change, commentId }) => ({ object, change, commentId }))).toEqual(
    rows,
  )
  const comments = await walk(first, { object: 'comment', change: 'added', limit: 7 })
  expect(comments).toEqual(listed.filter((each) => kindOf(each) === 'comment added'))
  expect(await walk(first, { change: 'deleted' })).toEqual([])
  // Rows of one change each: the first one of a page is the last one of the page before.
  expect(await walk(second, { limit: 1 })).toEqual(await walk(second))
})

test('the command, /v1 and a program return one document, with an address of the next page', async () => {
  const { run_id: runId } = second
  const page = JSON.parse(JSON.stringify(await read(second, { limit: 2 })))
  const response = await get(`/v1/runs/${runId}/changes?limit=2`)
  expect(response.json()).toEqual(page)
  const printed = await status(runId, '--changes', '--limit', '2', '--json')
  expect({ ...printed, stdout: JSON.parse(printed.stdout) }).toEqual({
    code: 0,
    stdout: page,
    stderr: '',
  })
  const [, next = ''] = /^<(.*)>; rel="next"$/.exec(String(response.headers.link)) ?? []
  const all = await walk(second)
  expect((await get(next)).json().items).toEqual(JSON.parse(JSON.stringify(all.slice(2, 4))))
  const { stdout } = await status(runId.slice(0, 8), '--changes', '--limit', '2')
  expect(stdout).toMatch(/^ {2}comments +1 new, 1 edited, 1 deleted$/m)
  const [, args = ''] = /collab-sync status (.*)$/m.exec(stdout) ?? []
  const following = await status(...args.split(' '), '--limit', '2', '--json')
  expect(JSON.parse(following.stdout).items).toEqual((await get(next)).json().items)
})

test('a run or a cursor that does not exist is refused in a sentence', async () => {
  const { run_id: runId } = second
  const wrong = Buffer.from('["failures",7]').toString('base64url')
  expect(await collabSync.listRunChanges({ runId: NO_RUN })).toBeNull()
  await expect(collabSync.listRunChanges({ runId: 'x' })).rejects.toThrow(UsageError)
  for (const [path, code, detail] of [
    [`/v1/runs/${NO_RUN}/changes`, 404, 'There is no such run. It may have been pruned.'],
    [`/v1/runs/x/changes`, 400, /^runId \(path\) is wrong: must be the ID of a run/],
    [`/v1/runs/${runId}/changes?cursor=${wrong}`, 400, /^cursor must be the nextCursor/],
    [`/v1/runs/${runId}/changes?object=annotation`, 400, /must be one of comment, user,/],
  ] as const) {
    const response = await get(path)
    expect([path, response.statusCode]).toEqual([path, code])
    expect(response.json().detail).toEqual(expect.stringMatching(detail))
  }
  expect((await pages.get(`/runs/${NO_RUN}/changes`)).status).toBe(404)
  expect((await pages.get(`/runs/${runId}/changes?cursor=${wrong}`)).status).toBe(400)
  for (const [args, sentence] of [
    [[NO_RUN, '--changes'], /^There is no run "00000000-.*"\. List the runs with: .*\n$/],
    [[runId, '--changes', '--cursor', wrong], /^--cursor must be the nextCursor of .*\n$/],
    [['--changes'], /^--changes needs a RUN\.\n$/],
    [[runId, '--changes', '--failures'], /cannot be used with/],
  ] as const)
    expect(await status(...args)).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(sentence),
    })
})

test('a run without changes says so; one in progress shows its changes so far', async () => {
  const page = (run: RunRow) => pages.words(`/runs/${run.run_id}`)
  expect(await page(unchanged)).toContain('The run changed nothing.')
  const again = `update sync.runs set status = 'running', finished_at = null where run_id = $1`
  for (const run of [second, unchanged]) await live.rows(again, run.run_id)
  expect(await page(unchanged)).toContain('The run has changed nothing so far.')
  expect(await page(second)).toContain('The run is in progress: more changes can follow.')
  expect(await page(second)).toContain(`${EDITED} edited comment`)
  expect((await read(second)).finishedAt).toBeNull()
  await live.rows(
    `update sync.runs set status = 'cancelled', finished_at = now() where finished_at is null`,
  )
})

test('a removal that was held and accepted later is not listed, and the run says so', async () => {
  live.standIn.setFaults([
    { kind: 'empty-list', match: { operation: 'users', organizationId: there } },
  ])
  const held = await live.run()
  live.standIn.setFaults([])
  expect(await read(held)).toMatchObject({ counts: [], removalsAccepted: 0 })
  const decision = { resolution: 'accepted', by: 'ann', reason: null } as const
  const choice = { runId: held.run_id }
  const [{ id }] = await live.rows('select max(held_id)::int as id from sync.held')
  await decideHeld(
    { database: database.pool },
    { heldId: id },
    { ...decision, resolution: 'refused' },
  )
  expect(await read(held)).toMatchObject({ removalsAccepted: 0 })
  const { listings } = await decideHeld({ database: database.pool }, choice, decision)
  expect(await read(held)).toMatchObject({ counts: [], items: [], removalsAccepted: listings })
  const note = `A user accepted ${listings} held removals of this run later.`
  expect(await pages.words(`/runs/${held.run_id}`)).toContain(note)
  expect((await status(held.run_id, '--changes')).stdout).toContain(note)
})

test('a person who was erased since has no name and no link', async () => {
  const before = await read(last, { limit: 500 })
  expect(JSON.stringify(before)).toContain(PERSON.name)
  await eraseUser(database.pool, { userId: PERSON.userId, organizationId: null, reason: 'asked' })
  const after = await read(last, { limit: 500 })
  expect(after.counts).toEqual(before.counts)
  expect(after.items.filter(({ object }) => object !== 'comment')).toMatchObject(
    before.items
      .filter(({ object }) => object !== 'comment')
      .map(({ object, change }) => ({ object, change, userId: null, name: null })),
  )
  for (const { run_id: runId } of [second, last]) {
    const path = `/runs/${runId}/changes`
    const { text } = await pages.page(path)
    expect(text).toContain('erased user')
    const printed = await status(runId, '--changes')
    for (const shown of [text, (await get(`/v1${path}`)).body, printed.stdout])
      expect(shown).not.toMatch(/zzyzx|Wilhelmine/i)
  }
})

test('a run says from when on its changes are stored, if some or all of them were pruned', async () => {
  const [{ at }] = await live.rows(
    'select distinct at from collab_store.changes where run_id = $1 order by at offset 2 limit 1',
    first.run_id,
  )
  const all = await walk(first)
  await prune(database.pool, at)
  const some = await walk(first)
  expect(some).toEqual(all.filter((change) => change.at >= at))
  expect(some.length).toBeGreaterThan(0)
  expect(some.length).toBeLessThan(all.length)
  const { prunedBefore, counts } = await read(first)
  expect(prunedBefore).toEqual(at)
  expect(Object.fromEntries(counts.map((each) => [kindOf(each), each.count]))).toEqual(tally(some))
  expect((await read(unchanged)).prunedBefore).toBeNull()
  const [{ end }] = await live.rows(
    'select finished_at as end from sync.runs where run_id = $1',
    first.run_id,
  )
  await prune(database.pool, end)
  expect(await read(first)).toMatchObject({ items: [], counts: [], prunedBefore: end })
  const words = await pages.words(`/runs/${first.run_id}`)
  expect(words).toMatch(/The changes of this run before [\d-]+ [\d:]+Z were pruned/)
  expect(words).not.toContain('changed nothing')
})
