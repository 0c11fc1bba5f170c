import { userInfo } from 'node:os'
import { beforeEach, expect, test } from 'vitest'
import { noCounts } from '../../src/schemas/counts.ts'
import { claimItem, commitItem } from '../../src/core/database/claims.ts'
import { addComment, deleteComment, edit } from '../../src/demo/changes.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { User } from '../../src/demo/people.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import type { CatalogLine } from '../../src/schemas/catalog-line.ts'
import { parseScope } from '../../src/schemas/scope.ts'
import * as erase from '../../src/core/database/statements/erase.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { readNameRedaction } from '../../src/features/privacy/rules.ts'
import { UsageError } from '../../src/base/errors.ts'
import { jobs } from '../../jobs/index.ts'
import { onApp } from '../client/on-app.ts'
import { syncBatch } from '../../src/core/sync/batch.ts'
import { startRun } from '../../src/core/run/start.ts'
import { rowsTouched } from '../helpers/expect-equal.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live, RunOptions } from '../helpers/live.ts'
import { amend, expectNoTrace as expectNone, textsOf } from './every-text.ts'

/** A person with a name, an address and words that nobody else has. */
const PERSON: User = {
  userId: 'wilhelmine@zzyzx.example',
  name: 'Wilhelmine "Zzyzx" Ürgens',
  email: 'W.Zzyzx@unlisted.example',
  nickname: 'Zzyzxine',
}
const TRACES = ['zzyzx', 'ürgens', '\\u00fcrgens', 'wilhelmine', 'xylograph']

const EVERYWHERE = { userId: PERSON.userId, organizationId: null, reason: 'asked by letter' }

let live: Live
const all: Live['rows'] = (...of) => live.rows(...of)
let here: string
let other: string
let later: string
let first: Place
let second: Place
let elsewhere: Place
beforeEach(async () => {
  live = await openLoaded('none')
  ;[here, other, later] = [...live.world.organizationIds()] as [string, string, string]
  first = placeIn(here, 0)
  second = placeIn(here, 1)
  elsewhere = placeIn(other, 0)
})

function placeIn(organizationId: string, index: number): Place {
  const documentId = [...live.world.documentIds(organizationId)][index] ?? ''
  const annotationId = [...live.world.annotationIds(organizationId, documentId)][index] ?? ''
  return { organizationId, documentId, annotationId }
}

async function run(request: RunOptions = {}): Promise<void> {
  expect((await live.run(request))['status']).toBe('succeeded')
}

function write(place: Place, text: string): number {
  return addComment(live.world, place, { text: `xylograph ${text}`, from: PERSON })
}

/** The person everywhere: listed, in documents and groups, with edited, deleted and unreadable comments, and mentioned. */
async function livedHere(): Promise<void> {
  const { world } = live
  for (const organizationId of [here, other]) {
    world.putUser(organizationId, PERSON)
    const { documentId } = placeIn(organizationId, 0)
    const members = (world.documentUsers(organizationId, documentId) ?? []).map(idOfUser)
    world.putDocumentUsers(organizationId, documentId, [...members, PERSON.userId])
    world.putGroupMembers(organizationId, groupOf(organizationId), [PERSON.userId, somebody()])
  }
  const edited = write(first, 'one')
  const gone = write(first, 'two')
  write(second, 'three')
  write(elsewhere, 'four')
  amend(live.world, second, write(second, 'five'), { attachments: [{ title: 'xylograph.png' }] })
  const nameless = write(second, 'six')
  amend(live.world, second, nameless, { from: { name: PERSON.name, email: PERSON.email } })
  const [theirs] = world.comments(first) ?? []
  amend(live.world, first, theirs?.commentId ?? 0, {
    taggedUsers: [PERSON, { userId: somebody(), name: 'Somebody' }],
    readBy: [PERSON.userId, somebody()],
  })
  await run()
  edit(world, first, edited, { text: 'xylograph one, edited' })
  deleteComment(world, first, gone)
  world.putGroupMembers(here, groupOf(here), [somebody()])
  await run()
  world.putGroupMembers(here, groupOf(here), [PERSON.userId, somebody()])
  amend(live.world, second, write(second, 'seven'), {
    commentText: 'xylograph \0',
    'odd\0': PERSON.name,
  })
  await live.run()
  await live.run({ scope: { organizationIds: [here], userIds: [PERSON.userId] } })
  // As autovacuum does when it comes by: the planner's samples hold the person too.
  await live.database.pool.query('analyze')
}

function idOfUser({ userId }: User): string {
  return userId
}

function groupOf(organizationId: string): string {
  return [...live.world.groupIds(organizationId)][0] ?? ''
}

/** A user of the first organization who is not the person. */
function somebody(): string {
  return live.world.users(here)?.[0]?.userId ?? ''
}

const expectNoTrace = () => expectNone(live.database, TRACES)

const one = async (text: string, values: unknown[] = []) => (await all(text, ...values))[0]

const COUNTS = `select
  (select count(*) from collab.comments)::int as comments,
  (select count(*) from collab.comment_versions)::int as versions,
  (select count(*) from collab.users)::int as users,
  (select count(*) from collab.document_users)::int as document_users,
  (select count(*) from collab.user_group_members)::int as group_members,
  (select count(*) from collab_store.past_memberships)::int as past,
  (select count(*) from sync.rejected_records)::int as rejected,
  (select count(distinct (organization_id, author_user_id)) from collab.comments)::int as authors`

test('nothing of an erased person is in any table, not after the next run either, and no count changes', async () => {
  await livedHere()
  const before = await one(COUNTS)
  expect((await textsOf(live.database)).get('collab_store.comments')?.toLowerCase()).toContain(
    'xylograph',
  )
  const reason = `asked by ${PERSON.email}`
  await live.database.pool.query(
    `insert into sync.actions (by, action, target, reason) values ($1, 'schedule_set', '0 2 * * *', $2)`,
    [PERSON.userId, reason],
  )
  const done = await eraseUser(live.database.pool, { ...EVERYWHERE, reason })
  expect(done).toMatchObject({ users: 2, comments: 7, mentionsInRecords: 1, scopes: 1 })
  expect(done.commentVersions).toBeGreaterThanOrEqual(2)
  expect(done.memberships).toBeGreaterThanOrEqual(5)
  expect(done.rejectedRecords).toBeGreaterThan(0)
  await expectNoTrace()
  expect(await one(COUNTS)).toEqual(before)
  expect(done.pseudonym).toMatch(/^erased:[0-9a-f]{32}$/)
  expect(await one(`select * from sync.erasures`)).toMatchObject({
    erasure_id: done.erasureId,
    organization_id: null,
    pseudonym: done.pseudonym,
    reason: expect.stringMatching(/^asked by erased:/),
    erased_by: (await one('select current_user as name'))?.['name'],
    users: 2,
  })
  await expect(eraseUser(live.database.pool, EVERYWHERE)).rejects.toThrow(UsageError)
  const actions = await all(
    `select by, target, reason from sync.actions where action in ('schedule_set', 'person_erased') order by action_id`,
  )
  const redacted = expect.stringMatching(/^asked by erased:/)
  expect(actions).toEqual([
    { by: done.pseudonym, target: '0 2 * * *', reason: redacted },
    { by: userInfo().username, target: `erasure ${done.erasureId}`, reason: redacted },
  ])

  const touched = await rowsTouched(live.database)
  await live.run()
  expect(await rowsTouched(live.database)).toBe(touched)
  await expectNoTrace()
  const after = await one(COUNTS)
  expect({ ...after, rejected: 0 }).toEqual({ ...before, rejected: 0 })

  // What the person does from then on is stored under the pseudonym, without words.
  const { pseudonym } = done
  live.world.putUser(later, PERSON)
  live.world.putUser(here, { ...PERSON, name: 'Wilhelmine Xylograph' })
  write(first, 'eight')
  write(placeIn(later, 0), 'nine')
  await live.run()
  await live.run({ scope: { organizationIds: [later], operations: ['users'] } })
  await expectNoTrace()
  const users = 'select raw from collab.users where organization_id = $2 and user_id = $1'
  expect(await all(users, pseudonym, later)).toEqual([{ raw: { userId: pseudonym } }])
  const comments = `select comment_text, author_name, raw - 'commentId' - 'lastUpdated' as raw from collab.comments
    where organization_id = $2 and author_user_id = $1`
  const raw = { from: { userId: pseudonym }, status: 'added', type: 'text' }
  expect(await all(comments, pseudonym, later)).toEqual([
    { comment_text: null, author_name: null, raw },
  ])
})

test('an erasure narrowed to an organization leaves the others as they are, and counts who still names the person', async () => {
  await livedHere()
  addComment(live.world, first, { text: `Ask ${PERSON.name} about it` })
  await live.run()
  const narrowed = { ...EVERYWHERE, organizationId: here }
  expect(await eraseUser(live.database.pool, narrowed)).toMatchObject({ mentionsLeft: 1 })
  await live.run()
  const users = 'select organization_id from collab.users where user_id = $1'
  expect(await all(users, PERSON.userId)).toEqual([{ organization_id: other }])
  const past = (await textsOf(live.database)).get('collab_store.past_memberships')
  expect(past).toMatch(/erased:/)
  expect(past).not.toMatch(/zzyzx/i)
  const count = (where: string, organizationId: string) =>
    one(`select count(*)::int as n from collab.comments where organization_id = $1 and ${where}`, [
      organizationId,
    ])
  expect(await count(`raw::text ilike '%xylograph%'`, here)).toEqual({ n: 0 })
  expect(await count(`comment_text like 'xylograph%'`, other)).toEqual({ n: 1 })
})

test('an answer that was asked for before the erasure cannot bring the person back after it', async () => {
  await livedHere()
  write(first, 'ten')
  live.world.putUser(here, { ...PERSON, name: 'Wilhelmine Again' })
  const app = await live.openApp()
  // As a worker does that is killed, or slow: what it saw of the erasures is older than the erasure.
  const before = await app.sync.rules.now()
  expect(before.redact(here)).toBe(null)
  const request = {
    trigger: 'cli',
    scope: parseScope({ organizationIds: [here], documentId: first.documentId }),
    requestKey: null,
  } as const
  const { items } = await startRun(app.sync, request)
  const claims = await Promise.all(
    items.map((item) => claimItem(live.database.pool, item, 'worker-of-the-test')),
  )
  expect(claims.map((claim) => claim?.lastErasure)).toEqual(items.map(() => null))
  await eraseUser(live.database.pool, EVERYWHERE)
  for (const claim of claims) {
    if (claim === null) throw new Error('not claimed')
    const commit = { claim, counts: noCounts(), doneScopes: '0', isEnd: true }
    expect(await commitItem(live.database.pool, commit)).toBe(false)
  }
  for (const item of items) await syncBatch(app.sync, item)
  await expectNoTrace()
})

/** Imports lines, and does something before the last of them is read. */
function importLines(lines: readonly CatalogLine[], beforeLast = async () => {}) {
  const source = {
    name: 'lines',
    unit: 'line' as const,
    async *lines() {
      for (const [index, line] of lines.entries()) {
        if (index === lines.length - 1) await beforeLast()
        yield { number: index + 1, line }
      }
    },
  }
  return importCatalog(live.database.pool, source, { prune: false, redaction: readNameRedaction })
}

function namedLines(): CatalogLine[] {
  return [
    { organizationId: here, organizationName: `1:1 <${PERSON.email}>` },
    {
      organizationId: here,
      documentId: first.documentId,
      documentName: `1:1 with ${PERSON.userId.toUpperCase()}`,
    },
    {
      organizationId: other,
      organizationUserGroupId: groupOf(other),
      organizationUserGroupName: PERSON.userId,
    },
  ]
}

/** The person is a user of the first organization, and nothing else. */
async function listed(): Promise<void> {
  live.world.putUser(here, PERSON)
  await run({ scope: { organizationIds: [here], operations: ['users'] } })
}

function nameOfOther() {
  return one('select name from collab.organizations where organization_id = $1', [other])
}

test('an erasure takes the person out of names in the catalog, and no way to import brings them back', async () => {
  await listed()
  await importLines(namedLines())
  await eraseUser(live.database.pool, EVERYWHERE)
  await expectNoTrace()
  const names = await one(`select o.name as organization, d.name as document, g.name as user_group
    from collab.organizations o, collab.documents d, collab.user_groups g
    where o.name is not null and d.name is not null and g.name is not null`)
  const pseudonym = expect.stringMatching(/^erased:[0-9a-f]{32}$/)
  expect(names).toEqual({
    organization: expect.stringMatching(/^1:1 <erased:[0-9a-f]{32}>$/),
    document: expect.stringMatching(/^1:1 with erased:[0-9a-f]{32}$/),
    user_group: pseudonym,
  })

  const lines = namedLines()
  expect(await importLines(lines)).toMatchObject({
    organizations: { renamed: 0 },
    documents: { renamed: 0 },
    userGroups: { renamed: 0 },
  })
  const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
  const app = await live.openApp({
    CATALOG_SQL: `select ${literal(other)} as organization_id, ${literal(PERSON.email ?? '')} as organization_name`,
  })
  await onApp(app).addToCatalog({ lines })
  await jobs.catalog(app, { data: { change: 'add', lines }, requestKey: 'a key' } as never)
  await app.refreshCatalog()
  await expectNoTrace()
  expect(await nameOfOther()).toEqual({ name: pseudonym })
  await importLines([{ organizationId: other, organizationName: 'May Zzyzxon' }])
  expect(await nameOfOther()).toEqual({ name: 'May Zzyzxon' })
})

test('an import that was reading names when a person was erased stores nothing', async () => {
  await listed()
  const erasing = importLines(namedLines(), async () => {
    await eraseUser(live.database.pool, EVERYWHERE)
  })
  await expect(erasing).rejects.toThrow(
    'Nothing was imported: a person was erased while the lines were read. Import them again.',
  )
  await expectNoTrace()
  await importLines(namedLines())
  await expectNoTrace()
})

test('a user or an organization that is not there is wrong usage, and nothing is done', async () => {
  const nobody = { userId: 'nobody', organizationId: null, reason: 'a slip' }
  await expect(eraseUser(live.database.pool, nobody)).rejects.toThrow(UsageError)
  await expect(
    eraseUser(live.database.pool, { ...nobody, organizationId: 'nowhere' }),
  ).rejects.toThrow('There is no organization "nowhere" in the catalog.')
  expect(await one('select count(*)::int as n from sync.erasures')).toEqual({ n: 0 })
})

test('the statistics of every table in which an erasure searches are recomputed', async () => {
  const { pool } = live.database
  const searched = await erase.textColumns.all(pool, { isOneOrganization: false })
  const analyzed = (await erase.analyze.all(pool)).map(({ statement }) => statement)
  expect(analyzed).toEqual(
    expect.arrayContaining(searched.map(({ relation }) => `analyze ${relation}`)),
  )
})
