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

/** Puts what a database of today holds into the tables of that commit: what came later is left out. */
export async function moveBeforeBaseline(database: Database): Promise<void> {
  await database.query(`
    drop schema collab, reporting cascade;
    alter schema collab_store rename to today_collab_store;
    alter schema sync rename to today_sync`)
  await migrateBeforeBaseline(database)
  await database.query(MOVE)
}

const MOVE = `
  do $$
  declare
    each record;
  begin
    set local session_replication_role = replica;
    for each in
      select r.oid::regclass as name, format('today_%s.%I', n.nspname, r.relname) as today, r.relkind = 'S' as is_sequence, (
        select string_agg(quote_ident(a.attname), ', ') from pg_attribute a
        join pg_attribute t on t.attrelid = to_regclass(format('today_%s.%I', n.nspname, r.relname)) and t.attname = a.attname
        where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
      from pg_class r join pg_namespace n on n.oid = r.relnamespace
      where n.nspname in ('collab_store', 'sync') and r.relkind in ('r', 'S')
        and to_regclass(format('today_%s.%I', n.nspname, r.relname)) is not null
    loop
      if each.is_sequence then
        execute format('select setval(%L, last_value, is_called) from %s', each.name, each.today);
      else
        -- Rows that migrations made.
        execute format('delete from %s', each.name);
        execute format('insert into %s (%s) overriding system value select %2$s from %3$s', each.name, each.columns, each.today);
      end if;
    end loop;
    drop schema today_collab_store, today_sync cascade;
  end
  $$`
