import { expect, test } from 'vitest'
import { CHANGED_OBJECTS } from '../../src/base/columns.ts'
import { OPERATION_NAMES, OPERATIONS } from '../../src/base/operations.ts'
import { createTestDatabase } from '../helpers/database.ts'

/** Values that PostgreSQL allows: a migration must add those of a new operation. */

const { pool } = await createTestDatabase()
const records = OPERATION_NAMES.map((operation) => OPERATIONS[operation].record)
const listed = OPERATION_NAMES.filter((operation) =>
  OPERATIONS[operation].kinds.some((kind: string) => kind !== 'annotation'),
)

test.each([
  ['collab_store.batches', 'operation', OPERATION_NAMES],
  ['collab_store.listings', 'operation', listed],
  ['collab_store.observed_records', 'object', records],
  ['collab_store.observed_members', 'object', records],
  ['sync.member_changes', 'object', records],
  ['collab_store.changes', 'object', CHANGED_OBJECTS],
])('the CHECK of %s.%s names what src/base does', async (table, column, names) => {
  const { rows } = await pool.query<{ definition: string }>(
    `select pg_get_constraintdef(c.oid) as definition
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any(c.conkey)
    where c.conrelid = $1::regclass and a.attname = $2 and c.contype = 'c'`,
    [table, column],
  )
  const allowed = rows.flatMap(({ definition }) =>
    [...definition.matchAll(/'(\w+)'/g)].map(([, name]) => name),
  )
  expect(new Set(allowed)).toEqual(new Set(names))
})

test.each(['observed_records', 'stored_records'])(
  '%s has a row for the records of every operation',
  async (table) => {
    const { rows } = await pool.query(`select object from collab_store.${table}`)
    expect(new Set(rows.map(({ object }) => object))).toEqual(new Set(records))
  },
)
