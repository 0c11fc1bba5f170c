import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrate, requireSchema } from '../../src/database/migrate.ts'
import { EnvironmentError, UsageError } from '../../src/errors.ts'
import { createEmptyDatabase, createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { BEFORE_BASELINE, migrateBeforeBaseline, sayApplied } from './before-baseline.ts'
import { describeCatalog } from './describe-catalog.ts'

const NAMES = [...BEFORE_BASELINE.keys()]
const LATER = readdirSync(fileURLToPath(import.meta.resolve('#sql/migrations')))
  .filter((name) => !name.includes('_baseline_'))
  .map((name) => name.replace(/\.sql$/, ''))
  .toSorted()

let database: TestDatabase
beforeEach(async () => {
  database = await createEmptyDatabase()
})
afterEach(() => database.drop())

test('the baseline makes what the migrations before it made, and what came later the same of both', async () => {
  const now = await createEmptyDatabase()
  try {
    await migrateBeforeBaseline(database.pool)
    for (const { url } of [database, now]) await migrate(url)
    const [then, made] = [await describeCatalog(database.pool), await describeCatalog(now.pool)]
    expect(made.length).toBeGreaterThan(1000)
    expect(differences(then, made)).toEqual([
      // No row of an empty table can break it. Where rows were before it, they were not looked at.
      expect.stringMatching(/^only now: constraint sync.run_items records_add_up .*"valid": true/),
      expect.stringMatching(
        /^only before: constraint sync.run_items records_add_up .*"valid": false/,
      ),
    ])
  } finally {
    await now.drop()
  }
})

describe('a database that has all migrations of before the baseline', () => {
  test('is marked as being at it once, by whichever of six comes first', async () => {
    await migrateBeforeBaseline(database.pool)
    await expect(requireSchema(database.pool)).rejects.toThrow(EnvironmentError)
    const made = await createTestDatabase()
    const ledger = 'select name from collab_sync.migrations order by run_on, id'
    const expected = await made.pool.query(ledger).finally(() => made.drop())
    const all = await Promise.all(Array.from({ length: 6 }, () => migrate(database.url)))
    expect(all.flatMap(({ applied }) => applied)).toEqual(LATER)
    await requireSchema(database.pool)
    expect((await database.pool.query(ledger)).rows).toEqual(expected.rows)
  })

  test('and one more is of a newer version', async () => {
    await sayApplied(database.pool, [...NAMES, '0020_future'])
    await expect(migrate(database.url)).rejects.toThrow(/newer version .*\(0020_future\)/)
  })
})

describe('a database that lacks some of them', () => {
  const lacking = [
    ...NAMES.slice(1).map((name, before) => [name, NAMES.slice(0, before + 1)] as const),
    ['0006_reporting_views', NAMES.filter((name) => name !== '0006_reporting_views')] as const,
  ]
  test('is told the first, and the version to migrate with', async () => {
    for (const [lost, applied] of lacking) {
      await sayApplied(database.pool, applied)
      for (const ask of [() => migrate(database.url), () => requireSchema(database.pool)]) {
        const refused = ask()
        await expect(refused, lost).rejects.toThrow(UsageError)
        await expect(refused, lost).rejects.toThrow(
          `The tables are too old for this program: they lack the migration ${lost}, which it holds no more. ` +
            'Run `collab-sync migrate` of commit 8eea79d first, then of this version.',
        )
      }
      const { rows } = await database.pool.query('select name from collab_sync.migrations')
      expect(rows.map(({ name }) => name)).toEqual(applied)
    }
  })
})

/** Of our tables. the table of migrations is another on purpose. */
function differences(then: readonly string[], made: readonly string[]): string[] {
  const ours = (lines: readonly string[]) =>
    lines
      .filter((line) => !line.includes('collab_sync'))
      // 0019_access granted one view to a role that another database of the server may have made; `grant` grants it.
      .map((line) => line.replace(/"acl": "[^"]*collab_views=[^"]*", /, ''))
  const only = (these: string[], those: string[]) => these.filter((line) => !those.includes(line))
  return [
    ...only(ours(made), ours(then)).map((line) => `only now: ${line}`),
    ...only(ours(then), ours(made)).map((line) => `only before: ${line}`),
  ]
}
