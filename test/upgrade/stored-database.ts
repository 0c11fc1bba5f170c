import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { transaction } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { TABLES } from '../database/tables.ts'

/** A database of a released version: its migrations by name, the rows of each table as JSON, and a state file of `export`. */
export interface StoredDatabase {
  readonly migrations: readonly string[]
  readonly tables: Readonly<Record<string, readonly object[]>>
  /** By sequence: its last value. */
  readonly sequences: Readonly<Record<string, string>>
  readonly exportState?: object
}

const MIGRATIONS = resolve(import.meta.dirname, '../../sql/migrations')
const MIGRATIONS_TABLE = 'collab_sync.migrations'

/** The released versions, each with the SHA-256 of its stored database, which is never stored again. */
export const RELEASED: ReadonlyMap<string, string> = new Map([
  ['0.1.0', '9b25070a2f5ab174c4ccd212b226060ca3f4a30c1cb62905802f0ebbe86f2e8c'],
])

/** The file with the stored database of a version. */
export function fileOf(version: string): string {
  return join(import.meta.dirname, `${version}.json`)
}

/** Reads all rows and sequences. */
export async function storeDatabase(database: Database): Promise<StoredDatabase> {
  const tables: Record<string, object[]> = {}
  for (const name of [MIGRATIONS_TABLE, ...Object.keys(TABLES)]) {
    const { rows } = await database.query<{ row: object }>(
      `select to_jsonb(t) as row from ${name} t order by to_jsonb(t)::text`,
    )
    tables[name] = rows.map(({ row }) => row)
  }
  const { rows: sequences } = await database.query<{ name: string; value: string | null }>(
    `select format('%I.%I', schemaname, sequencename) as name, last_value::text as value from pg_sequences
    where schemaname in ('collab_store', 'sync') order by 1`,
  )
  const used = sequences.filter(({ value }) => value !== null)
  return {
    migrations: (tables[MIGRATIONS_TABLE] ?? []).map((row) => (row as { name: string }).name),
    tables,
    sequences: Object.fromEntries(used.map(({ name, value }) => [name, value ?? ''])),
  }
}

/** Fills an empty database as its version left it: its migrations, then the rows in place of those that migrations insert. */
export async function loadDatabase(database: Database, stored: StoredDatabase): Promise<void> {
  const { migrations, tables, sequences } = stored
  await transaction(database, async (client) => {
    for (const name of readdirSync(MIGRATIONS).toSorted())
      if (migrations.includes(name.slice(0, -'.sql'.length)))
        await client.query(readFileSync(join(MIGRATIONS, name), 'utf8'))
    // Without triggers, which would write the feed of changes again.
    await client.query('set local session_replication_role = replica')
    await client.query(`truncate ${Object.keys(tables).join(', ')}`)
    for (const [name, rows] of Object.entries(tables)) {
      const { rows: columns } = await client.query<{ list: string }>(
        `select string_agg(quote_ident(attname), ', ') as list from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
        [name],
      )
      const list = columns[0]?.list
      await client.query(
        `insert into ${name} (${list}) overriding system value
        select ${list} from jsonb_populate_recordset(null::${name}, $1)`,
        [JSON.stringify(rows)],
      )
    }
    for (const [name, value] of Object.entries(sequences))
      await client.query('select setval($1::regclass, $2)', [name, value])
  })
}
