import { expect, test } from 'vitest'
import { z } from 'zod'
import * as reports from '../../src/core/database/statements/reports.ts'
import { readDictionary } from '../../src/features/export/dictionary/dictionary.ts'
import type { Dictionary } from '../../src/features/export/dictionary/dictionary.ts'
import { dictionaryDbt, dictionaryMarkdown } from './dictionary-print.ts'
import { createTestDatabase } from '../helpers/database.ts'

const COLUMNS = z.object({ name: z.string(), comment: z.string().nullable() }).array()

const database = await createTestDatabase()
const dictionary: Dictionary = await readDictionary(database.pool)

test('docs/DICTIONARY.md is what the database says (made again by: vitest -u)', async () => {
  await expect(dictionaryMarkdown(dictionary)).toMatchFileSnapshot('../../docs/DICTIONARY.md')
})

test('no comment of ours is missing or only repeats the name', async () => {
  const schemas = ['reporting', 'collab', 'sync', 'collab_store', 'collab_sync']
  const { pool } = database
  const relations = await reports.dictionaryRelations.all(pool, { schemas })
  const objects = [
    ...(await reports.dictionarySchemas.all(pool, { schemas })),
    ...relations,
    ...relations.flatMap(({ name, columns }) =>
      COLUMNS.parse(columns).map((column) => ({ ...column, of: name })),
    ),
    ...(await reports.dictionaryFunctions.all(pool, { schemas })),
  ]
  expect(objects.length).toBeGreaterThan(400)
  expect(objects.filter(({ name, comment }) => saysNothing(name, comment))).toEqual([])
  // psql and dashboards show a comment alone.
  expect(objects.filter(({ comment }) => /^As (in )?[a-z]/.test(comment ?? ''))).toEqual([])
})

test.each([
  ['documents', 'Documents.', true],
  ['comment_id', 'The comment id', true],
  ['removed_at', null, true],
  ['removed_at', '  ', true],
  ['removed_at', 'When a check first found the user gone.', false],
])('a comment on %s that says %j says nothing: %j', (name, comment, expected) => {
  expect(saysNothing(name, comment)).toBe(expected)
})

test('every view that people query has a key or is a list, and refers to the catalog', () => {
  const of = (name: string) => dictionary.relations.find((each) => each.name === name)
  expect(of('users')?.key).toEqual(['organization_id', 'user_id'])
  expect(of('annotations')?.references.map(({ to }) => to)).toEqual([
    'collab.documents',
    'collab.organizations',
  ])
  expect(of('failures')?.references).toContainEqual({
    columns: ['run_id'],
    to: 'sync.runs',
    toColumns: ['run_id'],
  })
  const collab = dictionary.relations.filter(({ schema }) => schema === 'collab')
  expect(collab.filter(({ key }) => key.length === 0).map(({ name }) => name)).toEqual([])
})

test('the sources of dbt test keys, references and freshness', () => {
  const text = dictionaryDbt(dictionary, 93_600)
  expect(text).toContain('combination_of_columns: [organization_id, document_id]')
  expect(text).toMatch(/- name: organization_id\n.*\n.*\n +tests:\n +- not_null\n +- unique/)
  expect(text).toContain(
    `relationships: { to: "source('collab', 'organizations')", field: organization_id }`,
  )
  expect(text).toMatch(
    /- name: freshness\n.*\n +loaded_at_field: checked_at\n +freshness:\n +warn_after: { count: 1560, period: minute }/,
  )
})

const FILLERS = new Set([
  'the',
  'a',
  'an',
  'of',
  'this',
  'its',
  'is',
  'table',
  'view',
  'column',
  'our',
])

/** True for a comment that is missing or has no word beyond those of the name. */
function saysNothing(name: string, comment: string | null): boolean {
  const words = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const own = new Set(words(name.replaceAll('_', ' ')))
  const told = words((comment ?? '').replaceAll('_', ' '))
  return told.every((word) => FILLERS.has(word) || own.has(word) || own.has(`${word}s`))
}
