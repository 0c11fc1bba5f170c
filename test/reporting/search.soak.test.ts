import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
  live = await openLive('none', {
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

test.each([
  ['groesse', []],
  ['GROSSE', ['Bitte die Größe auf Seite 3 prüfen']],
  ['gro', ['Bitte die Größe auf Seite 3 prüfen']],
  ['gr', []],
  ['проверьте', ['Проверьте, пожалуйста, «Договор» номер 7']],
  ['ПРОВЕРЬТЕ', ['Проверьте, пожалуйста, «Договор» номер 7']],
  ['«номер 7»', ['Проверьте, пожалуйста, «Договор» номер 7']],
  ['"номер 8"', []],
  ['页的合计', ['请检查第3页的合计。']],
  ['页合计', []],
  ['查', ['请检查第3页的合计。']],
  ['"第3页的"', ['请检查第3页的合计。']],
  ['合 -的', ['セクション3の合計が違います。']],
  ['合 -章', ['请检查第3页的合计。', 'セクション3の合計が違います。']],
  ['seite -30', ['Bitte die Größe auf Seite 3 prüfen']],
  ['quoted', [`it's \\ 'quoted' ) & ( | ! <-> :*`]],
  [
    '"march are wrong" or größe',
    ['The invoices of March are wrong', 'Bitte die Größe auf Seite 3 prüfen'],
  ],
  [
    'page -"page total"',
    ['the total is on the next page of the very long report about everything else'],
  ],
])('%s finds %j, whatever the letter case and accents', async (query, expected) => {
  expect((await found(query)).toSorted()).toEqual(expected.toSorted())
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
      `select obj_description('reporting.search'::regproc) as text`,
    )
    const statement = /create index .*\)\)/.exec(comment.rows[0].text)?.[0]
    expect(search.createIndex.text).toContain(statement)
    // Inside of a transaction, which is rolled back.
    await client.query((statement as string).replace('concurrently ', ''))
    const { rows } = await client.query(
      `explain select from collab_store.comments where collab_store.search_words(comment_text) @@ 'invoice'`,
    )
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('comments_search')
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('the search index is made and removed beside everything else, and what was broken off is made anew', async () => {
  const { pool, url } = live.database
  const isWhole = async () => (await search.readIndex.one(pool)).isWhole
  expect(await setSearchIndex(url, 'off')).toBe(false)
  expect(await setSearchIndex(url, 'on')).toBe(true)
  expect(await isWhole()).toBe(true)
  expect(await setSearchIndex(url, 'on')).toBe(false)
  await pool.query(
    `update pg_index set indisvalid = false where indexrelid = 'collab_store.comments_search'::regclass`,
  )
  expect(await isWhole()).toBe(false)
  expect(await setSearchIndex(url, 'on')).toBe(true)
  expect(await isWhole()).toBe(true)
  expect(await found('größe')).toEqual(['Bitte die Größe auf Seite 3 prüfen'])
  expect(await setSearchIndex(url, 'off')).toBe(true)
  expect(await isWhole()).toBe(null)
})

test('the index of an earlier version is named where a search misses it, and goes once the new one is there', async () => {
  const { pool, url } = live.database
  await pool.query(
    'create index comments_words on collab_store.comments using gin (reporting.comment_words(comment_text))',
  )
  expect(await search.readIndex.one(pool)).toEqual({ isWhole: null, hasEarlier: true })
  const client = await pool.connect()
  const notices: string[] = []
  const note = ({ message }: { message: string | undefined }) => notices.push(message ?? '')
  client.on('notice', note)
  try {
    const { rows } = await client.query(`select comment_text from reporting.search('größe')`)
    expect(rows).toEqual([{ comment_text: 'Bitte die Größe auf Seite 3 prüfen' }])
    expect(notices).toEqual([expect.stringContaining('migrate --search-index on')])
    expect(await setSearchIndex(url, 'on')).toBe(true)
    expect(await search.readIndex.one(pool)).toEqual({ isWhole: true, hasEarlier: false })
    await client.query(`select from reporting.search('größe')`)
    expect(notices).toHaveLength(1)
  } finally {
    client.off('notice', note)
    client.release()
    await setSearchIndex(url, 'off')
  }
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

test.each([
  ['', 'A search needs a word to search for.'],
  [' "!" ', 'A search needs a word to search for.'],
  ['-page', 'A search needs a word that is not excluded'],
  ['page or -total', 'A search needs a word that is not excluded'],
])('a search for %j says in one sentence what is wrong', async (query, message) => {
  const { pool } = live.database
  await expect(pool.query('select from reporting.search($1)', [query])).rejects.toThrow(message)
})

describe('filters, counts and pages', () => {
  const COMMON = 10_400
  const SEARCHES = ['off', 'on'] as const

  interface Found {
    matches: string
    comment_id: string
    cursor: string
  }

  async function ask(query: string, rest: string): Promise<Found[]> {
    const { rows } = await live.database.pool.query<Found>(
      `select matches, comment_id, cursor from reporting.search($1, ${rest})`,
      [query],
    )
    return rows
  }

  async function ids(where: string, order: string): Promise<string[]> {
    const { rows } = await live.database.pool.query<{ comment_id: string }>(
      `select comment_id from collab_store.comments where deleted_at is null and ${where} order by ${order}`,
    )
    return rows.map(({ comment_id }) => comment_id)
  }

  /** All pages of a search, one behind the other. */
  async function pages(query: string, rest: string, most: number): Promise<Found[]> {
    const all: Found[] = []
    for (let after: string | null = null; all.length < most;) {
      const page: Found[] = await ask(
        query,
        `${rest}, after => ${after === null ? 'null' : `'${after}'`}`,
      )
      if (page.length === 0) break
      all.push(...page)
      after = page.at(-1)?.cursor ?? null
    }
    return all
  }

  beforeAll(async () => {
    // Times repeat, some are missing, and one in 500 is a rare word.
    await live.database.pool.query(
      `insert into collab_store.comments (comment_id, last_updated, first_seen_at, changed_at, version_at, organization_key,
        annotation_key, version, digest, change, author_user_id, comment_text)
      select 1000000 + n, case when n % 100 > 0 then timestamptz '2026-01-01Z' + n / 3 * interval '1 minute' end, now(), now(), now(),
        d.organization_key, a.annotation_key, 1, '', 'added', 'author-' || n % 7,
        'Häufig wort ' || n || case when n % 500 = 1 then ' selten' else '' end || repeat(' x', n % 4)
      from generate_series(1, $1::integer) n, collab_store.annotations a
      join collab_store.documents d using (document_key)
      join collab_store.organizations o using (organization_key)
      where o.organization_id = $2`,
      [COMMON, place.organizationId],
    )
  })

  test.each(SEARCHES)('no filter comes after a cut, search index %s', async (state) => {
    await setSearchIndex(live.database.url, state)
    const from = '2026-01-02Z'
    const until = '2026-01-03Z'
    const author = `author_user_id = 'author-3'`
    const filters = `author_user_id => 'author-3', updated_from => '${from}', updated_until => '${until}'`
    const within = `last_updated >= '${from}' and last_updated < '${until}'`
    const expected = await ids(`${author} and ${within}`, 'comment_id')
    expect(expected.length).toBeGreaterThan(100)
    const all = await ask('haufig', `${filters}, max_results => 10000`)
    expect(all.map(({ comment_id }) => comment_id).toSorted()).toEqual(expected)
    expect(new Set(all.map(({ matches }) => matches))).toEqual(new Set([String(expected.length)]))
    expect(await ask('haufig', `organization_id => 'nobody', ${filters}`)).toEqual([])
    const paged = await pages('haufig', `${filters}, max_results => 70`, COMMON)
    expect(paged.map(({ comment_id }) => comment_id)).toEqual(
      all.map(({ comment_id }) => comment_id),
    )
  })

  test.each(SEARCHES)(
    'more than 10,000 are newest first, page by page, search index %s',
    async (state) => {
      await setSearchIndex(live.database.url, state)
      const order = 'last_updated desc nulls last, annotation_key desc, comment_id desc'
      const newest = await ids(`comment_text like 'Häufig%'`, order)
      const rest = 'max_results => 1500'
      const all = await pages('HAUFIG', rest, 20_000)
      expect(all.map(({ comment_id }) => comment_id)).toEqual(newest)
      expect(new Set(all.map(({ matches }) => matches))).toEqual(new Set(['more than 10,000']))
      const some = await pages('häufig "wort" -selten', 'max_results => 40', 120)
      const expected = await ids(
        `comment_text like 'Häufig%' and comment_text not like '%selten%'`,
        order,
      )
      expect(some.map(({ comment_id }) => comment_id)).toEqual(expected.slice(0, 120))
    },
  )

  test('more than 10,000 are counted and ranked on request', async () => {
    const [first] = await ask('häufig', 'exact => true, max_results => 1')
    expect(first?.matches).toBe(String(COMMON))
    const all = await pages('häufig', 'exact => true, max_results => 6000', 20_000)
    expect(new Set(all.map(({ comment_id }) => comment_id)).size).toBe(COMMON)
  })

  test('the same search below 10,000 is ranked, and a new comment moves no page', async () => {
    const rest = 'max_results => 8'
    const first = await ask('selten', rest)
    const after = `after => '${first.at(-1)?.cursor}', ${rest}`
    const second = await ask('selten', after)
    expect(first[0]?.matches).toBe('21')
    const { rows } = await live.database.pool.query<{ comment_id: string }>(
      `insert into collab_store.comments (comment_id, last_updated, first_seen_at, changed_at, version_at, organization_key,
        annotation_key, version, digest, change, comment_text)
      select 2000000, now(), now(), now(), now(), organization_key, annotation_key, 1, '', 'added', 'selten'
      from collab_store.comments where comment_id = 1000001 returning comment_id`,
    )
    expect(rows).toHaveLength(1)
    const [best] = await ask('selten', rest)
    expect(best).toMatchObject({ matches: '22', cursor: expect.stringMatching(/\.2000000$/) })
    expect((await ask('selten', after)).map(({ comment_id }) => comment_id)).toEqual(
      second.map(({ comment_id }) => comment_id),
    )
    await live.database.pool.query('delete from collab_store.comments where comment_id = 2000000')
  })

  test('a cursor of another search or of none is refused', async () => {
    const [first] = await ask('selten', 'max_results => 1')
    const cursor = first?.cursor ?? ''
    expect(await ask('selten', `after => '${cursor}'`)).toHaveLength(20)
    for (const [query, rest] of [
      ['häufig', `after => '${cursor}'`],
      ['selten', `author_user_id => 'author-1', after => '${cursor}'`],
      ['selten', `after => 'page-2'`],
      ['selten', `after => ''`],
    ] as const) {
      await expect(ask(query, rest), rest).rejects.toThrow('This cursor is not of this search')
    }
    await expect(ask('selten', 'max_results => 0')).rejects.toThrow('max_results')
  })
})
