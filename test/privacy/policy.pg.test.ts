import { beforeEach, expect, test } from 'vitest'
import { places } from '../../src/demo/catalog.ts'
import { rowsTouched } from '../helpers/expect-equal.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { textsOf } from './every-text.ts'

let live: Live
beforeEach(async () => {
  live = await openLoaded('none')
})

async function run(settings: Record<string, string>): Promise<Record<string, unknown>> {
  await live.define(settings)
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

const comments = () => columns<string>('select raw::text from collab.comments order by 1')

test('a changed setting has the next run write the stored records again, and back', async () => {
  const keep = { PRIVACY_EMAIL: 'keep', PRIVACY_RAW: 'keep' }
  const drop = { PRIVACY_EMAIL: 'drop', PRIVACY_RAW: 'drop' }
  await run(keep)
  const before = await comments()
  await run(drop)
  expect(await addressesFound()).toEqual([])
  expect(
    await columns('select distinct jsonb_object_keys(raw) from collab.users order by 1'),
  ).toEqual(['name', 'userId'])
  expect(
    await columns('select count(*)::int from collab.comment_versions where version > 1'),
  ).toEqual([0])
  await run(keep)
  expect(await comments()).toEqual(before)
})

test('with PRIVACY_EMAIL=drop only addresses are left out', async () => {
  await run({ PRIVACY_EMAIL: 'drop' })
  expect(await addressesFound()).toEqual([])
  expect(
    (await columns(`select 1 from collab.users where raw ? 'photoUrl' and raw ? 'name'`)).length,
  ).toBeGreaterThan(0)
  const texts = [...places(live.world)].flatMap((place) =>
    (live.world.comments(place) ?? []).map(({ commentText }) => commentText ?? null),
  )
  expect((await columns('select comment_text from collab.comments')).sort()).toEqual(texts.sort())
})

test('with PRIVACY_EMAIL=hash equal addresses have equal hashes; with PRIVACY_RAW=drop raw has only documented fields; and an unchanged service touches no row', async () => {
  const strict = { PRIVACY_EMAIL: 'hash', PRIVACY_RAW: 'drop' }
  await run(strict)
  expect(await addressesFound()).toEqual([])
  const known = [...live.world.organizationIds()].flatMap((id) =>
    (live.world.users(id) ?? []).flatMap(({ email }) => email ?? []),
  )
  const listed = await columns<string>(
    'select distinct email from collab.users where listed and email is not null',
  )
  expect(listed.length).toBe(new Set(known).size)
  for (const email of listed) expect(email).toMatch(/^hmac:[0-9a-f]{32}$/)
  const keys = await columns(
    `select string_agg(distinct key, ' ' order by key) from collab.comments, jsonb_object_keys(raw) key
    union all select string_agg(distinct key, ' ' order by key) from collab.users, jsonb_object_keys(raw) key`,
  )
  expect(keys).toEqual([
    'commentHtml commentId commentText from lastUpdated status type',
    'email name userId',
  ])
  const touched = await rowsTouched(live.database)
  expect(await run(strict)).toMatchObject({ records_updated: 0, records_inserted: 0 })
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
  await live.define(settings)
  await live.run({ settings })
  const records = await columns<string>('select record from sync.rejected_records')
  expect(records.length).toBeGreaterThan(0)
  expect(records.join()).toContain('odd')
  for (const [table, text] of await textsOf(live.database))
    expect(text, table).not.toContain('@rejected.example')
  await run({ PRIVACY_EMAIL: 'keep', PRIVACY_RAW: 'drop' })
  expect((await columns<string>('select record from sync.rejected_records')).at(-1)).not.toContain(
    'contact',
  )
})
