import { afterAll, beforeAll, expect, test } from 'vitest'
import { setSearchIndex } from '../../src/database/maintenance.ts'
import * as search from '../../src/database/statements/search.ts'
import { places } from '../../src/demo/catalog.ts'
import { addComment, deleteComment } from '../../src/demo/changes.ts'
import type { Place } from '../../src/demo/layout.ts'
import { UsageError } from '../../src/errors.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

const TEXTS = [
  'The invoices of March are wrong',
  'invoice',
  'Bitte die Größe auf Seite 3 prüfen',
  'siehe Seite 30',
  '请检查第3页的合计。',
  'セクション3の合計が違います。',
  '페이지를 확인해 주세요',
  'Проверьте, пожалуйста, «Договор» номер 7',
  'هل يمكن تأجيل هذا إلى الأسبوع القادم؟',
  'कृपया पृष्ठ की जाँच करें।',
  'กรุณาตรวจสอบหน้านี้อีกครั้ง',
  'נא לבדוק את העמוד',
  'page total, page total',
  'the total is on the next page of the very long report about everything else',
  `it's \\ 'quoted' ) & ( | ! <-> :*`,
]

let live: Live
let place: Place
beforeAll(async () => {
  live = await openLive('postgres', {
    world: {
      organizations: 2,
      documentsPerOrganization: 1,
      annotationsPerDocument: 1,
      commentsPerAnnotation: 0,
      skew: false,
    },
  })
  const all = [...places(live.world)]
  place = all[0] as Place
  for (const text of TEXTS) addComment(live.world, place, { text })
  addComment(live.world, all[1] as Place, { text: 'invoice of another organization' })
  const gone = addComment(live.world, place, { text: 'invoice that is gone' })
  await live.importCatalog()
  await live.run()
  if ('commentId' in gone) deleteComment(live.world, place, gone.commentId)
  await live.run()
})
afterAll(() => live.close())

async function found(query: string, organizationId?: string): Promise<string[]> {
  const { rows } = await live.database.pool.query(
    'select comment_text from reporting.search_comments($1, $2)',
    [query, organizationId ?? null],
  )
  return rows.map(({ comment_text }) => comment_text)
}

test.each([
  ['größe', ['Bitte die Größe auf Seite 3 prüfen']],
  ['合计', ['请检查第3页的合计。']],
  ['合計', ['セクション3の合計が違います。']],
  ['検査', []],
  ['페이지', ['페이지를 확인해 주세요']],
  ['договор', ['Проверьте, пожалуйста, «Договор» номер 7']],
  ['القادم', ['هل يمكن تأجيل هذا إلى الأسبوع القادم؟']],
  ['जाँच', ['कृपया पृष्ठ की जाँच करें।']],
  ['ตรวจสอบ', ['กรุณาตรวจสอบหน้านี้อีกครั้ง']],
  ['לבדוק', ['נא לבדוק את העמוד']],
  ['seite 3', ['Bitte die Größe auf Seite 3 prüfen']],
  ['invoices -march', []],
  ['"page total"', ['page total, page total']],
])('a search for %s finds %j', async (query, expected) => {
  expect(await found(query)).toEqual(expected)
})

test('a word finds longer ones that begin with it, in quotes it does not', async () => {
  const own = place.organizationId
  expect((await found('invoice', own)).toSorted()).toEqual([
    'The invoices of March are wrong',
    'invoice',
  ])
  expect(await found('"invoice"', own)).toEqual(['invoice'])
})

test('what fits better comes first', async () => {
  expect((await found('page total'))[0]).toBe('page total, page total')
  expect(await found('page total')).toHaveLength(2)
})

test('a search of one organization finds nothing of another, and no deleted comment', async () => {
  expect(await found('another', place.organizationId)).toEqual([])
  expect(await found('another')).toEqual(['invoice of another organization'])
  expect(await found('gone')).toEqual([])
})

test.each([
  '',
  '   ',
  `'`,
  `it's \\ 'quoted' ) & (`,
  '"',
  '-',
  'a\\',
  '!!! & | <->',
  ':*',
  '"合',
  "x') or y",
])('a search for %j fails on nothing', async (query) => {
  await expect(found(query)).resolves.toBeInstanceOf(Array)
})

test('the index that its COMMENT names serves what a search asks for', async () => {
  const client = await live.database.pool.connect()
  try {
    await client.query('begin; set local enable_seqscan = off')
    const comment = await client.query(
      `select obj_description('reporting.search_comments(text, text, integer)'::regprocedure) as text`,
    )
    const statement = /create index .*\)\)/.exec(comment.rows[0].text)?.[0]
    expect(search.createIndex.text).toContain(statement)
    // Inside of a transaction, which is rolled back.
    await client.query((statement as string).replace('concurrently ', ''))
    const { rows } = await client.query(
      `explain select from collab_store.comments where reporting.comment_words(comment_text) @@ reporting.search_query('invoice')`,
    )
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('comments_words')
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('the search index is made and removed beside everything else, and what was broken off is made anew', async () => {
  const { pool, url } = live.database
  const isWhole = async () => (await search.isIndexWhole.first(pool))?.isWhole
  expect(await setSearchIndex(url, 'off')).toBe(false)
  expect(await setSearchIndex(url, 'on')).toBe(true)
  expect(await isWhole()).toBe(true)
  expect(await setSearchIndex(url, 'on')).toBe(false)
  await pool.query(
    `update pg_index set indisvalid = false where indexrelid = 'collab_store.comments_words'::regclass`,
  )
  expect(await setSearchIndex(url, 'on')).toBe(true)
  expect(await isWhole()).toBe(true)
  expect(await found('größe')).toEqual(['Bitte die Größe auf Seite 3 prüfen'])
  expect(await setSearchIndex(url, 'off')).toBe(true)
  expect(await isWhole()).toBe(undefined)
})

test('one process at a time changes the search index', async () => {
  const client = await live.database.pool.connect()
  try {
    // The server may still be closing the session of the test before.
    await expect.poll(() => search.lock.one(client)).toEqual({ taken: true })
    await expect(setSearchIndex(live.database.url, 'on')).rejects.toThrow(UsageError)
  } finally {
    client.release(true)
  }
})
