import { expect, test } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'

test('migrate gives up a lock that another session holds, so that readers go on, and tries again', async () => {
  const migrated = await createTestDatabase()
  await migrated.pool.query(
    `delete from collab_sync.migrations where name = (select max(name) from collab_sync.migrations)`,
  )
  const other = await migrated.pool.connect()
  await other.query('begin; lock table collab_sync.migrations in share mode')
  const migrating = migrate(migrated.url)
  const waits = `select from pg_locks where not granted and relation = 'collab_sync.migrations'::regclass`
  const isWaiting = async () => (await migrated.pool.query(waits)).rows.length > 0
  await until('the migration waits for the lock', isWaiting)
  await until('it gave up', async () => !(await isWaiting()))
  await other.query('commit')
  other.release()
  expect((await migrating).applied).toHaveLength(1)
})
