import { expect, test } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { openOwnPostgres } from '../faults/servers.ts'
import { openTestDatabase } from '../helpers/database.ts'
import { viewTypes } from './view-types.ts'

test('src/client/views.ts is what the database says (made again by: npm run generate)', async () => {
  // Only the planner of PostgreSQL 17 and newer proves what is never null.
  const server = await openOwnPostgres()
  await migrate(server.url)
  const text = await viewTypes(openTestDatabase(server.url).pool, server.url)
  await expect(text).toMatchFileSnapshot('../../src/client/views.ts')
})
