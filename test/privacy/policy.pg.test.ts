import { afterEach, beforeEach, expect, test } from 'vitest'
import { places } from '../../src/demo/catalog.ts'
import { rowsTouched } from '../helpers/expect-equal.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { textsOf } from './every-text.ts'

let live: Live
beforeEach(async () => {
  live = await openLive('none')
  await live.importCatalog()
})
afterEach(() => live.close())

async function run(settings: Record<string, string>): Promise<Record<string, unknown>> {
  const row = await live.run({ settings })
  expect(row.status).toBe('succeeded')
  return row
}

async function columns<T>(text: string): Promise<T[]> {
  return (await live.database.pool.query(text)).rows.map((row) => Object.values(row)[0] as T)
}

/** E-mail addresses anywhere in the tables; those in the words of comments are their authors'. */
async function addressesFound(): Promise<string[]> {
  const emails = await columns<string>(
    `select email from collab.users where email like '%@%'
    union all select author_email from collab.comments where author_email like '%@%'
    union all select raw::text from collab.users where (raw - 'userId')::text like '%@%'
    union all select (raw - 'commentText' - 'commentHtml')::text from collab.comments
      where (raw - 'commentText' - 'commentHtml')::text like '%@%'`,
  )
  return emails
}

/** Everything is kept: a first run as it is without these settings. */
const KEEP = { PRIVACY_EMAIL: 'keep', PRIVACY_RAW: 'keep' }

test('with PRIVACY_EMAIL=drop no address is stored, in columns or in raw, and nothing else is lost', async () => {
  await run({ PRIVACY_EMAIL: 'drop' })
  expect(await addressesFound()).toEqual([])
  expect(await columns(`select count(*)::int from collab.users where raw ? 'email'`)).toEqual([0])
  expect(await columns(`select count(*)::int from collab.users where name is null`)).not.toEqual([
    (await columns('select count(*)::int from collab.users'))[0],
  ])
  expect(
    (await columns(`select 1 from collab.users where raw ? 'photoUrl'`)).length,
  ).toBeGreaterThan(0)
  const texts = [...places(live.world)].flatMap((place) =>
    (live.world.comments(place) ?? []).map(({ commentText }) => commentText ?? null),
  )
  expect((await columns('select comment_text from collab.comments')).sort()).toEqual(texts.sort())
})

test('with PRIVACY_EMAIL=hash equal addresses have equal hashes, and none can be read', async () => {
  await run({ PRIVACY_EMAIL: 'hash' })
  expect(await addressesFound()).toEqual([])
  const emails = await columns<string>(
    'select distinct email from collab.users where email is not null',
  )
  expect(emails.length).toBeGreaterThan(10)
  for (const email of emails) expect(email).toMatch(/^hmac:[0-9a-f]{32}$/)
  const known = new Set(
    [...live.world.organizationIds()].flatMap((id) =>
      (live.world.users(id) ?? []).flatMap(({ email }) => email ?? []),
    ),
  )
  const listed = await columns(
    'select distinct email from collab.users where listed and email is not null',
  )
  expect(listed.length).toBe(known.size)
})

test('with PRIVACY_RAW=drop raw holds what the columns hold, and nothing the service does not document', async () => {
  await run({ PRIVACY_RAW: 'drop' })
  const keys = await columns(
    'select distinct jsonb_object_keys(raw) from collab.comments order by 1',
  )
  expect(keys).toEqual([
    'commentHtml',
    'commentId',
    'commentText',
    'from',
    'lastUpdated',
    'status',
    'type',
  ])
  expect(
    await columns('select distinct jsonb_object_keys(raw) from collab.users order by 1'),
  ).toEqual(['email', 'name', 'userId'])
})

test('an unchanged service touches no row under any of these settings', async () => {
  const strict = { PRIVACY_EMAIL: 'hash', PRIVACY_RAW: 'drop' }
  await run(strict)
  const touched = await rowsTouched(live.database)
  const row = await run(strict)
  expect(await rowsTouched(live.database)).toBe(touched)
  expect(row).toMatchObject({ records_updated: 0, records_inserted: 0 })
})

test('a changed setting has the next run write what is stored anew, and back', async () => {
  await run(KEEP)
  const before = await columns(`select raw::text from collab.comments order by 1`)
  await run({ PRIVACY_EMAIL: 'drop', PRIVACY_RAW: 'drop' })
  expect(await addressesFound()).toEqual([])
  expect(
    await columns(`select count(*)::int from collab.comment_versions where version > 1`),
  ).toEqual([0])
  await run(KEEP)
  expect(await columns(`select raw::text from collab.comments order by 1`)).toEqual(before)
  const touched = await rowsTouched(live.database)
  await run(KEEP)
  expect(await rowsTouched(live.database)).toBe(touched)
})

test('records that are rejected keep no address and no undocumented member either', async () => {
  const [place] = places(live.world)
  if (place === undefined) throw new Error('no place')
  const { live: comments, deleted } = live.world.thread(place) ?? { live: [], deleted: [] }
  const from = { userId: 'u', name: 'N', email: 'caught@rejected.example' }
  const odd = {
    commentId: 9_001,
    commentText: 'odd \0',
    from,
    contact: { mail: 'me@rejected.example' },
  }
  live.world.putThread(place, { live: [...comments, odd as never], deleted })
  const settings = { PRIVACY_EMAIL: 'drop' }
  await live.run({ settings })
  const records = await columns<string>('select record from sync.rejected_records')
  expect(records.length).toBeGreaterThan(0)
  expect(records.join()).toContain('odd')
  for (const [table, text] of await textsOf(live.database))
    expect(text, table).not.toContain('@rejected.example')
  await live.run({ settings: { PRIVACY_EMAIL: 'keep', PRIVACY_RAW: 'drop' } })
  expect((await columns<string>('select record from sync.rejected_records')).at(-1)).not.toContain(
    'contact',
  )
})
