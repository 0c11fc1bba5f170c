import { afterAll, beforeAll, expect, test } from 'vitest'
import { withSnapshot } from '../../src/features/export/rows.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(
    'create view reporting.many as select n from generate_series(1, 1000000) n',
  )
})
afterAll(() => database.drop())

test('an export whose connection is lost ends, and says so', async () => {
  const object = { schema: 'reporting', name: 'many', columns: [{ name: 'n', type: 'integer' }] }
  const exporting = withSnapshot(database.pool, async (snapshot) => {
    let rows = 0
    for await (const _ of snapshot.rows(object, { organizationId: null, since: null }))
      if ((rows += 1) === 10)
        await database.pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%many%' and pid <> pg_backend_pid()`,
        )
  })
  await expect(exporting).rejects.toThrow(
    /^PostgreSQL at .* cannot be asked: .*\. Try again in a moment\.$/,
  )
})
