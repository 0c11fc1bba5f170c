import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { migrate, requireSchema } from '../../src/database/migrate.ts'
import { UsageError } from '../../src/errors.ts'
import { createEmptyDatabase, createTestDatabase } from '../helpers/database.ts'
import { BEFORE_BASELINE } from './before-baseline.ts'
import { describeCatalog } from './describe-catalog.ts'

const SQL = join(import.meta.dirname, '../../sql')

test('the baseline makes what the migrations before it made', async () => {
  const [then, now] = [await createEmptyDatabase(), await createEmptyDatabase()]
  try {
    for (const text of BEFORE_BASELINE.values()) await then.pool.query(text)
    for (const line of readFileSync(join(SQL, 'migrations.sha256'), 'utf8')
      .split('\n')
      .slice(0, -1))
      await now.pool.query(readFileSync(join(SQL, line.split('  ')[1] ?? ''), 'utf8'))
    const describe = async ({ pool }: typeof now) =>
      // A view that was once made of its own printed text names this column, with the name that it has.
      (await describeCatalog(pool)).map((line) =>
        line.replace(
          'NULL::timestamp with time zone AS timestamptz',
          'NULL::timestamp with time zone',
        ),
      )
    const made = await describe(now)
    expect(made.length).toBeGreaterThan(1000)
    expect(made).toEqual(await describe(then))
  } finally {
    await then.drop()
    await now.drop()
  }
})

test('tables of a state before the baseline are refused in one sentence, and left as they are', async () => {
  const database = await createTestDatabase()
  try {
    const { pool } = database
    const names = [...BEFORE_BASELINE.keys()]
    await pool.query('delete from collab_sync.migrations')
    await pool.query(
      'insert into collab_sync.migrations (name, run_on) select unnest($1::text[]), now()',
      [names],
    )
    const before = await describeCatalog(pool, true)
    const refused = new UsageError(
      'The tables are of a state before version 0.1.0, which begins anew: name an empty database in DATABASE_URL, and sync again.',
    )
    await expect(migrate(database.url)).rejects.toThrow(refused)
    await expect(requireSchema(pool)).rejects.toThrow(refused)
    expect(await describeCatalog(pool, true)).toEqual(before)
    const { rows } = await pool.query('select name from collab_sync.migrations order by id')
    expect(rows.map(({ name }) => name)).toEqual(names)
  } finally {
    await database.drop()
  }
})
