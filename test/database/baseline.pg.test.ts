import { expect, test } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { requireSchema } from '../../src/core/database/schema.ts'
import { UsageError } from '../../src/base/errors.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { describeCatalog } from './describe-catalog.ts'

test('tables of a state before the baseline are refused in one sentence, and left as they are', async () => {
  const database = await createTestDatabase()
  try {
    const { pool } = database
    const names = ['0001_baseline_catalog', '0033_feed_horizon']
    await pool.query('delete from collab_sync.migrations')
    await pool.query(
      'insert into collab_sync.migrations (name, run_on) select unnest($1::text[]), now()',
      [names],
    )
    const before = await describeCatalog(pool, true)
    const refused = new UsageError(
      'The tables are older than version 0.1.0, which cannot upgrade them. Set DATABASE_URL to an empty database and sync again.',
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
