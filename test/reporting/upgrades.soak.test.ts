import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEmptyDatabase, onServer } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

const MIGRATIONS = fileURLToPath(import.meta.resolve('#sql/migrations'))
const analyst = `cs_test_analyst_${randomBytes(4).toString('hex')}`

let database: TestDatabase
beforeAll(async () => {
  database = await createEmptyDatabase()
  await onServer((server) => server.query(`create role ${analyst}`))
})
afterAll(async () => {
  await database.drop()
  await onServer((server) => server.query(`drop role ${analyst}`))
})

test('views, grants, indexes and foreign keys that an analyst made outlive every later migration', async () => {
  const { pool } = database
  await pool.query('create schema analyst')
  const built = { views: new Set<string>(), tables: new Set<string>() }
  for (const file of readdirSync(MIGRATIONS).toSorted()) {
    await pool.query(readFileSync(join(MIGRATIONS, file), 'utf8'))
    await buildOnWhatIsNew(built)
    await expectAlive(built, file)
  }
  expect(built.views.size).toBeGreaterThan(20)
  expect(built.tables.size).toBeGreaterThan(10)
})

/** As an analyst would, as soon as the migration that makes a thing has run. */
async function buildOnWhatIsNew(built: Built): Promise<void> {
  const { pool } = database
  for (const view of await names('v', ['collab', 'reporting'])) {
    if (built.views.has(view)) continue
    built.views.add(view)
    await pool.query(`create view ${mine(view)} as select * from ${view}`)
    await pool.query(`grant select on ${view} to ${analyst}`)
  }
  for (const table of await names('r', ['collab_store'])) {
    if (built.tables.has(table)) continue
    built.tables.add(table)
    const key = await keyOf(table)
    const columns = key.map(({ name }) => name).join(', ')
    const last = await lastColumnOf(table)
    await pool.query(
      `create index ${mine(table).replace('analyst.', 'mine_')} on ${table} (${last})`,
    )
    await pool.query(`grant select on ${table} to ${analyst}`)
    if (key.length === 0) continue
    await pool.query(
      `create table ${mine(table)} (${key.map(({ name, type }) => `${name} ${type}`).join(', ')},
        foreign key (${columns}) references ${table} (${columns}))`,
    )
  }
}

async function expectAlive(built: Built, after: string): Promise<void> {
  const { pool } = database
  for (const view of built.views) {
    await pool.query(`select * from ${mine(view)} limit 0`).catch((error: unknown) => {
      throw new Error(`${view} after ${after}`, { cause: error })
    })
  }
  const count = async (text: string) => Number((await pool.query(text, [analyst])).rows[0].count)
  const all = built.views.size + built.tables.size
  const granted = `select count(*) from information_schema.role_table_grants where grantee = $1 and privilege_type = 'SELECT'`
  expect(await count(granted), `grants after ${after}`).toBe(all)
  const indexes = `select count(*) from pg_class where relkind = 'i' and relname like 'mine_%' and $1 <> ''`
  expect(await count(indexes), `indexes after ${after}`).toBe(built.tables.size)
  const references = `select count(*) from pg_constraint where contype = 'f' and $1 <> ''
    and connamespace = 'analyst'::regnamespace and convalidated`
  const keyed = await Promise.all(
    [...built.tables].map(async (table) => (await keyOf(table)).length > 0),
  )
  expect(await count(references), `foreign keys after ${after}`).toBe(keyed.filter(Boolean).length)
}

interface Built {
  readonly views: Set<string>
  readonly tables: Set<string>
}

function mine(name: string): string {
  return `analyst.${name.replace('.', '_')}`
}

async function names(kind: string, schemas: string[]): Promise<string[]> {
  const { rows } = await database.pool.query(
    `select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = relnamespace
    where relkind = $1 and nspname = any($2) order by 1`,
    [kind, schemas],
  )
  return rows.map(({ name }) => name)
}

async function keyOf(table: string): Promise<{ name: string; type: string }[]> {
  const { rows } = await database.pool.query(
    `select attname as name, format_type(atttypid, atttypmod) as type
    from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
    where indrelid = $1::regclass and indisprimary order by array_position(indkey::int[], attnum::int)`,
    [table],
  )
  return rows
}

async function lastColumnOf(table: string): Promise<string> {
  const { rows } = await database.pool.query(
    `select attname from pg_attribute where attrelid = $1::regclass and attnum > 0 and atttypid <> 'jsonb'::regtype
    order by attnum desc limit 1`,
    [table],
  )
  return rows[0].attname
}
