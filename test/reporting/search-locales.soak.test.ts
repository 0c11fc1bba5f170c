import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { createEmptyDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

/** As `create database` takes them; what this server was not built for is left out. */
const LOCALES = [
  `encoding 'UTF8' locale 'C'`,
  `encoding 'UTF8' locale 'C.UTF-8'`,
  `encoding 'UTF8' locale 'C' locale_provider icu icu_locale 'tr-TR'`,
  `encoding 'UTF8' locale 'C.UTF-8' locale_provider icu icu_locale 'lt-LT'`,
  `encoding 'UTF8' locale 'C' locale_provider builtin builtin_locale 'C.UTF-8'`,
]

const TEXTS = [
  ['Größe ÆØÅ Straße ẞ ĐŁ', 'grosse aeoa strasse ss dl'],
  ['İstanbul ISIK ısı DIŞ', 'istanbul isik isi dis'],
  ['Проверьте ЁЖИК, «Їжа» й', 'проверьте ежик іжа и'],
  ['ΑΣ Ὀδυσσεύς ΟΔΥΣΣΕΥΣ', 'ασ οδυσσευσ οδυσσευσ'],
  ['Việt Nam, cafe\u0301 CAFÉ', 'viet nam cafe cafe'],
  ['ﬁne ｆｕｌｌ １２ Ⅷ', 'fine full 12 viii'],
  ['请检查第3页的合计。', '请检查第 3 页的合计'],
  ['ガギ パ ｶﾞ', 'ガギ パ ガ'],
  ['페이지를 확인', '페이지를 확인'],
  ['كِتَابٌ ٣ آب ـــ', 'كتاب 3 اب'],
  ['שָׁלוֹם', 'שלום'],
  ['कृपया पृष्ठ।', 'कृपया पृष्ठ'],
  ["it's a_b-c@d.example/e 3.14", 'it s a b c d example e 3 14'],
  ['👍gut👍 … — “q”', 'gut q'],
  ['Ա ա Ⴀ Ა Ꭰ 𐐀 Ⰰ', null],
] as const

/** Letters with a lower case of one letter each. */
const LETTERS = Array.from({ length: 0x1e944 }, (_, at) => at)
  .filter((at) => at < 0xd800 || at > 0xdfff)
  .map((at) => String.fromCodePoint(at))
  .filter((letter) => [...letter.toLowerCase()].length === 1 && letter.toLowerCase() !== letter)

const databases: TestDatabase[] = []
beforeAll(async () => {
  for (const locale of LOCALES) {
    const database = await createEmptyDatabase(locale).catch((error: unknown) => {
      // This server knows no such provider or locale.
      if (/not supported|ICU|invalid locale|unrecognized|not recognized/.test(String(error))) return
      throw error
    })
    if (database === undefined) continue
    await migrate(database.url)
    databases.push(database)
  }
})
afterAll(async () => {
  for (const database of databases) await database.drop()
})

test('letter case and accents are folded alike, whatever the locale of the server', async () => {
  expect(databases.length).toBeGreaterThan(1)
  const texts = TEXTS.map(([text]) => text)
  const answers = await Promise.all(
    databases.map(async ({ pool }) => {
      const { rows } = await pool.query<{ folded: string; words: string }>(
        'select reporting.folded_text(t) as folded, collab_store.search_words(t)::text as words from unnest($1::text[]) t',
        [texts],
      )
      return rows
    }),
  )
  for (const [n, [, expected]] of TEXTS.entries())
    if (expected !== null) expect(answers[0]?.[n]?.folded).toBe(expected)
  for (const answer of answers) expect(answer).toEqual(answers[0])
})

test('every letter is folded as its lower case is', async () => {
  for (const { pool } of databases) {
    const { rows } = await pool.query(
      `select u from unnest($1::text[], $2::text[]) l (u, l) where reporting.folded_text(u) <> reporting.folded_text(l)`,
      [LETTERS, LETTERS.map((letter) => letter.toLowerCase())],
    )
    expect(rows).toEqual([])
  }
})
