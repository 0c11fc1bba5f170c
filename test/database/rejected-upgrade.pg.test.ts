import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEmptyDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

const MIGRATIONS = fileURLToPath(import.meta.resolve('#sql/migrations'))
const NEW = '0016_set_aside_records.sql'

let database: TestDatabase
beforeAll(async () => {
  database = await createEmptyDatabase()
})
afterAll(() => database.drop())

test('of what was rejected before, the reason tells whether a whole record was lost; none can be set aside', async () => {
  const { pool } = database
  const files = readdirSync(MIGRATIONS).toSorted()
  const apply = (file: string) => pool.query(readFileSync(join(MIGRATIONS, file), 'utf8'))
  for (const file of files.filter((each) => each < NEW)) await apply(file)
  const reasons: [reason: string, isWhole: boolean][] = [
    ['commentId is a string, not an integer', true],
    ['null where a comment belongs', true],
    // Equal ones lost nothing, and nobody can tell any more.
    ['commentId 5 is in the answer twice', false],
    ['status is a number, not a string: status was set to null', false],
    ['from: name is a number, not a string: name was set to null', false],
    ['extra.deep cannot be stored: left out of raw', false],
    ['erased: a person appeared in it', false],
  ]
  const { rows } = await pool.query(
    `insert into sync.runs (trigger) values ('cli') returning run_id`,
  )
  for (const [reason] of reasons) {
    await pool.query(
      `insert into sync.rejected_records (run_id, operation, reason, record) values ($1, 'comments', $2, '{}')`,
      [rows[0].run_id, reason],
    )
  }
  await apply(NEW)
  const after = await pool.query(
    'select reason, is_whole, digest, set_aside_at from sync.unstored_records order by rejected_record_id',
  )
  expect(after.rows).toEqual(
    reasons.map(([reason, is_whole]) => ({ reason, is_whole, digest: null, set_aside_at: null })),
  )
})
