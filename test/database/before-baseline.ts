import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Database } from '../../src/database/pool.ts'

/**
 * The migrations of commit 8eea79d, which the baseline took the place of, by name in their order: for tests alone. As
 * `git show 8eea79d:sql/migrations/NAME.sql` says them.
 */
export const BEFORE_BASELINE: ReadonlyMap<string, string> = new Map(
  Object.entries<string>(
    JSON.parse(
      gunzipSync(
        readFileSync(join(import.meta.dirname, 'migrations-before-baseline.json.gz')),
      ).toString(),
    ),
  ),
)

/**
 * Makes the tables as `migrate` of that commit made them.
 * @param last the name of the migration to end with
 */
export async function migrateBeforeBaseline(database: Database, last?: string): Promise<void> {
  const names = [...BEFORE_BASELINE.keys()]
  const applied = names.slice(0, last === undefined ? names.length : names.indexOf(last) + 1)
  for (const name of applied) await database.query(BEFORE_BASELINE.get(name) ?? '')
  if (applied.length > 5)
    await database.query(
      readFileSync(fileURLToPath(import.meta.resolve('#sql/roles/collab_reader.sql')), 'utf8'),
    )
  await sayApplied(database, applied)
}

/** Makes the table of migrations say that these were applied, as that commit did, and no others. */
export async function sayApplied(database: Database, names: readonly string[]): Promise<void> {
  await database.query(`
    create schema if not exists collab_sync;
    create table if not exists collab_sync.migrations (
      id integer generated always as identity primary key,
      name varchar(255) not null unique,
      run_on timestamp not null
    );
    delete from collab_sync.migrations`)
  await database.query(
    `insert into collab_sync.migrations (name, run_on)
    select name, timestamp '2026-11-01' from unnest($1::text[]) with ordinality as each (name, n) order by n`,
    [names],
  )
}
