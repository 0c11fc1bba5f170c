import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { addToCatalog } from '../../src/features/catalog/change.ts'
import { findRun } from '../../src/cli/requested-scope.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import { thingPath } from '../../src/http/pages/things/thing-link.tsx'
import { openLive } from '../helpers/live.ts'
import type { RunRow } from '../helpers/live.ts'
import { askPages, formOf, hiddenFields, unescaped, wordsOf } from './open-pages.ts'
import { HOSTILE, hostileComments, importHostilePlace, putHostileUser } from './hostile.ts'

const PAGES = ['/', '/runs', '/organizations', '/search?q=none', '/held', '/schedule']

// One nightly run with all that may go wrong: a scope that fails, a listing that is held, a record that is rejected.
const live = await openLive('none')
const [whole, failing, held] = [...live.world.organizationIds()] as [string, string, string]
putHostileUser(live, held)
await live.importCatalog()
const pages = await askPages(await live.openApp())
const { page: expectPage, words: wordsAt, question: questionOf } = pages
for (const path of PAGES) await expectPage(path)
expect(await wordsAt('/')).toContain('No nightly run yet')
await live.run()
await importHostilePlace(live)
live.standIn.setFaults([
  hostileComments(whole),
  { kind: 'forbidden', match: { organizationId: failing, operation: 'comments' } },
  { kind: 'empty-list', match: { organizationId: held, operation: 'users' } },
])
const nightly: RunRow = await live.run({ trigger: 'schedule' })

test('the overview says whether last night succeeded, when the next run is due, and what needs a person', async () => {
  const words = await wordsAt('/')
  expect(words).toContain(
    `The last nightly run succeeded partially ${String(nightly['problem']).split('`')[0]}`,
  )
  expect(words).toContain('The next nightly run is due in')
  expect(words).toContain(`${nightly['scopes_failed']} scopes failed at the last check, in `)
  expect(words).toMatch(
    /people are missing from \d+ listings?, and collab-sync removed none of them, in /,
  )
  expect(words).toContain(`1 record was rejected, in organization "${whole}".`)
  expect(words).toMatch(/The last 30 days .* partial [0-9a-f]{8} /)
  // The runs of the day stored all comments; the card is of one of them.
  const rows = await live.rows('select sum(comments_written)::int as stored from sync.runs')
  expect(words).toContain('Comments stored Comments written by authors')
  expect(words).toMatch(
    new RegExp(` partial [0-9a-f]{8} 2 ${rows[0]?.stored.toLocaleString('en-US')} `),
  )
  expect(words).toMatch(/[\d,]+ of [\d,]+ scopes are stale/)
})

test('a page of a run groups its failures by cause and tells what was slow', async () => {
  const page = await expectPage(`/runs/${nightly.run_id}`)
  const words = wordsOf(page)
  expect(words).toContain('Forbidden (HTTP 403 PERMISSION_DENIED)')
  expect(words).toContain(`Retry the ${nightly['scopes_failed']} scopes that still fail`)
  expect(words).toContain('The slowest organizations')
  expect(page.text).toContain(`<form method="get" action="/actions/retry">`)
  expect(page.text).not.toContain('follow-run.js')
})

test('the first digits of a run lead to its page, and to a list where several begin with them', async () => {
  const { pool } = live.database
  const id = String(nightly.run_id)
  const short = await pages.get(`/runs/${id.slice(0, 8)}`)
  expect(short).toMatchObject({ status: 302, headers: { location: `/runs/${id}` } })
  const twin = `${id.slice(0, 8)}-0000-4000-8000-000000000000`
  await pool.query(
    `insert into sync.runs (run_id, trigger, status, scope, finished_at) values ($1, 'cli', 'cancelled', '{}', now())`,
    [twin],
  )
  try {
    const several = await pages.get(`/runs/${id.slice(0, 8)}`)
    expect(several.headers['location']).toBe(`/search?q=${id.slice(0, 8)}`)
    const words = await wordsAt(`/search?q=${id.slice(0, 8)}`)
    expect(words).toContain(id)
    expect(words).toContain(twin)
    await expect(findRun(pool, id.slice(0, 8))).rejects.toThrow(
      /^Several runs begin with .*: give more digits\. They are [0-9a-f-]{36}, [0-9a-f-]{36}\.$/,
    )
    expect((await pages.get(`/runs/${id.slice(0, 5)}`)).status).toBe(404)
  } finally {
    await pool.query('delete from sync.runs where run_id = $1', [twin])
  }
})

test('what the service sent is text on every page', async () => {
  const shown = [
    ['/organizations', HOSTILE.organizationId],
    ['/organizations', HOSTILE.organizationName],
    [
      `/organizations?${new URLSearchParams({ search: HOSTILE.organizationName })}`,
      HOSTILE.organizationName,
    ],
    [`/runs/${nightly.run_id}`, `${HOSTILE.organizationId} / ${HOSTILE.documentId}`],
    [`/runs/${nightly.run_id}/failures`, `${HOSTILE.organizationId} / ${HOSTILE.documentId}`],
    ['/held', HOSTILE.userName],
    ['/held', HOSTILE.commentText],
    [
      `/actions/sync?${new URLSearchParams({ organizationId: HOSTILE.organizationId })}`,
      HOSTILE.organizationId,
    ],
    [
      `/search?${new URLSearchParams({ q: HOSTILE.organizationId.slice(1) })}`,
      HOSTILE.organizationId,
    ],
    [thingPath(HOSTILE), HOSTILE.annotationId],
    [thingPath({ ...HOSTILE, annotationId: null }), HOSTILE.annotationId],
    [thingPath({ organizationId: held, userId: 'hostile-user' }), HOSTILE.userName],
  ] as const
  for (const [path, text] of shown) {
    const page = await expectPage(path)
    expect(page.text, path).not.toMatch(/<img|<script>/)
    expect(unescaped(page.text).replaceAll('\\"', '"'), path).toContain(text)
  }
})

test('a character that reverses the order of letters is an escape in texts, and unchanged in forms', async () => {
  const id = 'a\u202Eb'
  const line = { organizationId: id, documentId: 'c' }
  const page = await expectPage(`/actions/add?${new URLSearchParams(line)}`)
  expect(hiddenFields(page)['organizationId']).toBe(id)
  expect(page.text.replaceAll(/"[^"]*"/g, '')).not.toContain('\u202E')
  await addToCatalog(live.database.pool, [{ organizationId: id }], {
    source: 'a test',
    requestedBy: 'a test',
  })
  const listed = await expectPage('/organizations')
  expect(listed.text).toContain('a\\u202eb')
  expect(listed.text.replaceAll(/"[^"]*"/g, '')).not.toContain('\u202E')
})

test('an organization is synced after a question, once, and its run is cancelled', async () => {
  const question = await questionOf('sync', { organizationId: whole })
  expect(wordsOf(question)).toMatch(/Sync now\? Scope: organization .* A run requests \d+ scopes, /)
  expect(wordsOf(question)).toContain('What it fetches already is fetched again.')
  const done = await question.confirm()
  expect(done.status).toBe(303)
  const address = String(done.headers['location'])
  expect(address).toMatch(/^\/runs\/[0-9a-f-]{36}\?done=run-started$/)
  expect((await question.confirm()).headers['location']).toBe(
    address.replace('run-started', 'run-known'),
  )
  const page = await expectPage(address)
  expect(wordsOf(page)).toContain('The run is requested.')
  expect(page.text).toContain('follow-run.js')
  const runId = address.slice('/runs/'.length, '/runs/'.length + 36)
  const cancel = await questionOf('cancel', { run: runId })
  expect(wordsOf(cancel)).toContain('data already written is kept')
  const cancelled = await cancel.confirm()
  expect(cancelled.headers['location']).toBe(`/runs/${runId}?done=run-cancelled`)
  expect(await wordsAt(`/runs/${runId}`)).toMatch(/cancelled|is ending/)
})

test('a thing is added to the catalog, synced, reported as changed and removed', async () => {
  const document = { organizationId: whole, documentId: 'a new & odd document' }
  const annotation = { ...document, annotationId: 'a 1' }
  const act = async (action: string, fields: Record<string, string>) => {
    const question = await questionOf(action, fields)
    expect(wordsOf(question)).toContain('Scope: organization ')
    return String((await question.confirm()).headers['location'])
  }
  const thing = (ids: Record<string, string>) => `/thing?${new URLSearchParams(ids)}`
  const early = await pages.post('/actions/add', { ...annotation, key: randomUUID() })
  expect(early.status).toBe(400)
  expect(wordsOf(early)).toContain('Document "a new & odd document" is not in the catalog')
  const empty = { annotationId: '', organizationUserGroupId: '' }
  expect(await act('add', { ...document, ...empty })).toBe(`${thing(document)}&done=added`)
  const run = /^\/runs\/[0-9a-f-]{36}\?done=run-started$/
  expect(await act('add', { ...annotation, sync: 'on' })).toMatch(run)
  expect(await act('sync', document)).toMatch(run)
  expect(await act('hint', document)).toMatch(run)
  const { pool } = live.database
  await pool.query('update collab_store.definitions set refresh_budget = 1')
  expect(await act('hint', document)).toBe(`${thing(document)}&done=hinted&counts=1`)
  await pool.query('update collab_store.definitions set refresh_budget = null')
  expect(await act('remove', document)).toBe(`${thing(document)}&done=removed`)
  const { rows } = await pool.query(
    `select d.active, a.active as annotation from collab_store.documents d
    join collab_store.annotations a using (document_key) where document_id = $1`,
    [document.documentId],
  )
  expect(rows).toEqual([{ active: false, annotation: false }])
  const { rows: scopes } = await pool.query(
    `select scope from sync.runs order by requested_at desc limit 4`,
  )
  expect(scopes.map(({ scope }) => scope)).toContainEqual({
    organizationIds: [whole],
    documentId: document.documentId,
    annotationId: 'a 1',
  })
  const wrong = await pages.get(`/actions/hint?${new URLSearchParams({ organizationId: whole })}`)
  expect(wordsOf(wrong)).toContain('documentId is missing.')
})

test('everybody who would leave a listing is on its page', async () => {
  const { pool } = live.database
  const { rows } = await pool.query(
    `select held_id as id, missing_user_ids as missing from sync.held
    where resolved_at is null order by cardinality(missing_user_ids) desc limit 1`,
  )
  const { id, missing } = rows[0]
  const all = await expectPage('/held')
  expect(wordsOf(all)).toContain(`and ${missing.length - 8} more who leave`)
  const more = all.text.match(/href="(\/held\/[^"]+)"/)?.[1] ?? ''
  expect(unescaped(more)).toMatch(/^\/held\/\d+\?leaving=/)
  await expectPage(unescaped(more))
  const page = await expectPage(`/held/${id}`)
  for (const userId of missing) expect(unescaped(page.text)).toContain(userId)
  const last = missing.toSorted().at(-2)
  const next = await expectPage(`/held/${id}?${new URLSearchParams({ leaving: last })}`)
  expect(unescaped(next.text)).toContain(missing.toSorted().at(-1))
  expect(unescaped(next.text)).not.toContain(missing.toSorted()[0])
  expect(next.text).toContain('First page')
  expect((await pages.get('/held/999999')).status).toBe(404)
  expect((await pages.get('/held/odd')).status).toBe(404)
})

test('a held removal is shown with who leaves and who stays, and accepted only as it was seen', async () => {
  const page = await expectPage('/held')
  expect(wordsOf(page)).toContain('Stay in any case: 0 users')
  const fields = formOf(page, 'accept', 'held')
  const question = await questionOf('accept', fields)
  expect(wordsOf(question)).toContain('Accept the removal?')
  const stale = { ...fields, run: '00000000-0000-4000-8000-000000000000' }
  expect(await pages.get(`/actions/accept?${new URLSearchParams(stale)}`)).toMatchObject({
    status: 400,
  })
  const done = await question.confirm()
  expect(done.headers['location']).toMatch(/^\/held\?done=held-accepted&counts=\d+\.1\.0$/)
  const after = await wordsAt(String(done.headers['location']))
  const [, removed] = /counts=(\d+)/.exec(String(done.headers['location'])) ?? []
  expect(after).toMatch(
    new RegExp(`The removal is accepted: ${removed} (person|people) removed from 1 listing\\.`),
  )
  const again = await question.confirm()
  expect(again.status).toBe(400)
  expect(wordsOf(again)).toContain('Check them again.')
})

test('a held removal is refused with a reason', async () => {
  const fields = formOf(await expectPage('/held'), 'refuse', 'held')
  const question = await questionOf('refuse', fields)
  expect(wordsOf(question)).toContain('Refuse the removal?')
  const without = await question.confirm()
  expect(without.status).toBe(400)
  const done = await question.confirm({ reason: 'no' })
  expect(done.headers['location']).toMatch(/^\/held\?done=held-refused&counts=\d+\.1\.0$/)
  const after = await wordsAt(String(done.headers['location']))
  expect(after).toMatch(/The removal is refused: \d+ (person|people) kept in 1 listing\./)
  expect(await wordsAt('/history')).toMatch(/ HTTP_TOKEN held refused .* users? no /)
})

test.each(['organization', 'run'])(
  'what is held in one %s is decided in one go, as it was counted, with one reason',
  async (by) => {
    const choice = { organization: held, run: String(nightly.run_id) }
    const path = by === 'run' ? `/held?run=${choice.run}` : '/held'
    const button = formOf(await expectPage(path), 'refuse', by)
    expect(button).toEqual({ [by]: choice[by as 'run'] })
    const question = await questionOf('refuse', button)
    const fields = { ...hiddenFields(question), reason: 'their directory was down' }
    const rows =
      await live.rows(`select count(distinct held_id)::text as listings, count(distinct (organization_id, user_id))::text as people
      from sync.held cross join unnest(missing_user_ids) m (user_id) where resolved_at is null`)
    expect(fields).toMatchObject(rows[0])
    expect(wordsOf(question)).toContain(
      `${rows[0].people} people are missing from ${rows[0].listings} listings, and collab-sync removed none of them.`,
    )
    expect(question.text).toContain(`Keep ${rows[0].people} people in ${rows[0].listings} listings`)
    const other = await pages.post('/actions/refuse', { ...fields, people: '1' })
    expect(other.status).toBe(400)
    expect(wordsOf(other)).toContain('Check them again.')
    const done = await pages.post('/actions/refuse', fields)
    expect(done.headers['location']).toContain(`counts=${rows[0].people}.${rows[0].listings}.0`)
    expect(await wordsAt(path)).toContain('No removal is held.')
    const { rows: decided } = await live.database.pool.query(
      `update sync.held set resolved_at = null, resolution = null, decided_by = null, reason = null, is_standing = false
      where reason = $1 returning held_id`,
      [fields.reason],
    )
    expect(decided).toHaveLength(Number(rows[0].listings))
  },
)

test('a rejected record is set aside with a reason', async () => {
  const page = await expectPage('/held')
  const fields = formOf(page, 'set-aside', 'record')
  const question = await questionOf('set-aside', fields)
  expect((await question.confirm()).status).toBe(400)
  const done = await question.confirm({ reason: 'no' })
  const after = await expectPage(String(done.headers['location']))
  expect(wordsOf(after)).toContain('1 record set aside')
  expect(after.text).not.toContain(`name="record" value="${fields['record']}"`)
})

test('the schedule is set, shown and removed', async () => {
  const wanted = { cron: '30 1 * * *', timeZone: 'Europe/Berlin' }
  const question = await questionOf('set-schedule', wanted)
  expect(wordsOf(question)).toContain('The next runs would start at')
  await question.confirm()
  expect(await wordsAt('/schedule?done=schedule-set')).toMatch(
    /The nightly schedule is set.*30 1 \* \* \*.*Europe\/Berlin.*Set by HTTP_TOKEN /,
  )
  await pages.act('remove-schedule', {})
  expect(await wordsAt('/schedule')).toContain('No nightly schedule')
})

test('wrong input is told in a sentence', async () => {
  const wrong = [
    ['/actions/set-schedule?cron=x&timeZone=UTC', 400, 'The cron expression'],
    ['/actions/cancel?run=1', 400, 'run is wrong'],
    [`/actions/cancel?run=${nightly.run_id}`, 400, 'is over already'],
    ['/runs?status=odd', 400, 'status is wrong'],
    ['/runs?cursor=odd', 400, 'cursor'],
    ['/search?q=a&q=b', 400, 'q is wrong'],
    ['/search?q=a&seconds=odd', 400, 'seconds'],
    ['/search?q=a&seconds=61', 400, 'seconds must be a whole number from 1 to 60'],
    ['/runs/00000000-0000-4000-8000-000000000000', 404, 'There is no such run'],
    ['/runs/odd', 404, 'There is no such run'],
  ] as const
  for (const [path, status, sentence] of wrong) {
    const page = await pages.get(path)
    expect(page.status, path).toBe(status)
    expect(wordsOf(page), path).toContain(sentence)
  }
  expect((await pages.post('/actions/sync', {})).status).toBe(400)
})

test('files are kept by browsers until they change, and unknown ones are not there', async () => {
  const page = await expectPage('/')
  const [, path = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(page.text) ?? []
  const style = await pages.get(path)
  expect(style.headers).toMatchObject({
    'content-type': 'text/css; charset=utf-8',
    'cache-control': 'private, max-age=31536000, immutable',
  })
  const plain = await pages.get('/static/style.css')
  expect(plain).toMatchObject({ text: style.text, headers: { 'cache-control': 'no-store' } })
  expect((await pages.get('/static/none.css')).status).toBe(404)
  expect(page.text.length + style.text.length).toBeLessThan(100_000)
})

test('while PostgreSQL is away every page says so in a sentence, and the files are there', async () => {
  const database = openDatabase('postgres://postgres@127.0.0.1:1/none')
  const app = await live.openApp()
  const away = await askPages({ ...app, store: { ...app.store, database } })
  for (const path of [...PAGES, `/runs/${nightly.run_id}`, '/actions/sync']) {
    const page = await away.get(path)
    expect(page.status, path).toBe(503)
    expect(wordsOf(page), path).toContain('PostgreSQL does not respond')
    expect(page.text.match(/<h1>/g), path).toHaveLength(1)
  }
  expect((await away.get('/static/style.css')).status).toBe(200)
  await database.end()
})
