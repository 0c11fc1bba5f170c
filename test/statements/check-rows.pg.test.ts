import { afterAll, beforeAll, expect, test } from 'vitest'
import * as tokens from '../../src/database/statements/tokens.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('a row whose value is not of the generated type fails whoever reads it', async () => {
  await database.pool.query(
    `alter table sync.access_tokens drop constraint access_tokens_rights_check`,
  )
  await tokens.add.run(database.pool, { name: 'ann', rights: 'read', hash: Buffer.alloc(32, 1) })
  expect(await tokens.read.all(database.pool)).toMatchObject([{ name: 'ann', rights: 'read' }])
  await database.pool.query(`update sync.access_tokens set rights = 'write'`)
  await expect(tokens.read.all(database.pool)).rejects.toThrow(
    "tokens/read: column 3 is write, no 'read' | 'operate' | 'admin'",
  )
})
