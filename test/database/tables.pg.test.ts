import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as erase from '../../src/core/database/statements/erase.ts'
import { PRUNED_TABLES } from '../../src/features/privacy/prune.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { TABLES } from './tables.ts'

/** What prune and erasure have to know of every table. A table of a new operation is in no list of theirs by itself. */

const { pool } = await createTestDatabase()
const namesOf = (isIt: (facts: (typeof TABLES)[string]) => boolean) =>
  Object.keys(TABLES).filter((name) => isIt(TABLES[name] ?? { rows: '' }))

test('every table has a line in test/database/tables.ts, and every line a table', async () => {
  const { rows } = await pool.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
    where relkind in ('r', 'p') and relnamespace in ('collab_store'::regnamespace, 'sync'::regnamespace)`,
  )
  expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(TABLES).toSorted())
})

test('prune deletes from every table whose rows grow with runs', () => {
  expect([...PRUNED_TABLES].toSorted()).toEqual(namesOf(({ rows }) => rows === 'pruned'))
})

test('an erasure reads the names and addresses of a person from every table that has them', async () => {
  const searched = await erase.textColumns.all(pool, { isOneOrganization: false })
  const withTexts = new Set([
    ...searched.map(({ relation }) => relation),
    'collab_store.users',
    'collab_store.comments',
  ])
  const described = namesOf(({ people }) => people !== undefined)
  expect(described).toEqual(
    [...withTexts].filter((name) => name.startsWith('collab_store.')).toSorted(),
  )
  const identity = new URL('../../sql/queries/erase/identity.sql', import.meta.url)
  const read = readFileSync(identity, 'utf8').matchAll(/(?:from|join) (collab_store\.\w+)/g)
  expect([...read].map(([, name]) => name).toSorted()).toEqual(
    namesOf(({ people }) => people === 'identity').toSorted(),
  )
})
