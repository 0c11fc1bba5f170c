import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import { EnvironmentError, UsageError } from '../errors.ts'
import { carryColumns } from './added-columns.ts'
import { requireTimeZone, setDefinitions } from './definitions.ts'
import type { Definitions } from './definitions.ts'
import { renewOrganizationReaders } from './grants.ts'
import { checkDatabase, codeOf, describeDatabase, openDatabase } from './pool.ts'
import type { Client, Database } from './pool.ts'
import { deriveWritten } from './written.ts'
import type { OnDerived } from './written.ts'

/** What {@link migrate} did. */
export interface Migrated {
  /** Names of the migrations that were applied now, in order; empty when the tables were up to date. */
  applied: string[]
  /** `granted` is false where this role may not create or grant it; `statements` then do it. */
  readerRole: { granted: boolean; statements?: string }
  /** Workers of the version before still write comments without the time of their writing: it is to be run once more. */
  awaitsWorkers?: true
}

/**
 * Brings the tables to this program's version, all pending migrations in one transaction, and sets up
 * the role `collab_reader`. Safe to repeat, and to run from several machines at once: they wait for
 * each other. A migration that fails leaves everything as it was.
 * @param url of the database, by a role that may create schemas in it; no superuser right is needed
 * @param definitions what words mean in reports from now on; left out, what they meant before
 * @param onDerived hears how far it is where it finds out anew when stored comments were written
 * @throws EnvironmentError where the server, the role's rights or the tables' version do not allow it; UsageError where
 *   the tables are older than the baseline, or PostgreSQL does not know the time zone
 */
export async function migrate(
  url: string,
  definitions?: Definitions,
  onDerived: OnDerived = () => {},
): Promise<Migrated> {
  const database = openDatabase(url, { max: 1, applicationName: 'migrate' })
  try {
    await checkDatabase(database)
    if (definitions !== undefined) await requireTimeZone(database, definitions)
    const client = await database.connect()
    try {
      // Table of migrations, migrations and role under one lock of the session; closing the connection gives it back.
      await client.query('set statement_timeout = 0')
      await client.query('select pg_advisory_lock($1)', [MIGRATE_LOCK])
      await makeMigrationsTable(client, describeDatabase(database))
      const applied = await applyPending(client)
      if (definitions !== undefined) await setDefinitions(client, definitions)
      const readerRole = await grantReaderRole(client)
      await carryColumns(client)
      await renewOrganizationReaders(client)
      const awaitsWorkers = await deriveWritten(client, onDerived)
      return { applied, readerRole, ...(awaitsWorkers && { awaitsWorkers }) }
    } finally {
      client.release(true)
    }
  } finally {
    await database.end()
  }
}

/**
 * Looks whether the tables are of this program's version.
 * @throws EnvironmentError that says to run `collab-sync migrate`, or that the program is too old; UsageError where the
 *   tables are older than the baseline
 */
export async function requireSchema(database: Database): Promise<void> {
  const applied = await readApplied(database).catch((error: unknown) => {
    // Who reads the views alone may not look: what is missing, PostgreSQL then says by its name.
    if (codeOf(error) === INSUFFICIENT_PRIVILEGE) return ownMigrations()
    throw error
  })
  refuseOthers(applied)
  if (applied.length === 0)
    throw new EnvironmentError(
      `The database at ${describeDatabase(database)} has no tables of collab-sync yet. Run \`collab-sync migrate\`.`,
    )
  if (!ownMigrations().every((name) => applied.includes(name)))
    throw new EnvironmentError(
      `The tables are older than this program: their last migration is ${applied.at(-1)}. Run \`collab-sync migrate\`.`,
    )
}

const MIGRATIONS = fileURLToPath(import.meta.resolve('#sql/migrations'))
const READER_ROLE = fileURLToPath(import.meta.resolve('#sql/roles/collab_reader.sql'))
const MIGRATE_LOCK = 4_013_071_001
const BASELINE = /^\d+_baseline_/
/** What made the tables until the baseline took their place, and the version that still had them. */
const BEFORE_BASELINE = `
  0001_catalog 0002_users 0003_comments 0004_runs 0005_collab_views 0006_reporting_views 0007_reports 0008_time_spent
  0009_privacy_and_roles 0010_listings 0011_traces 0012_notifications 0013_noticed_once 0014_record_boundary
  0015_calls_and_frozen_workers 0016_set_aside_records 0017_granted_readers 0018_erasures_in_pieces 0019_access`
  .trim()
  .split(/\s+/)
const LAST_COMMIT_BEFORE_BASELINE = '8eea79d'
const INSUFFICIENT_PRIVILEGE = '42501'

// A schema of its own: the migrator needs its table before the first migration makes any other schema.
const CREATE_TABLE = `
  create schema collab_sync;
  comment on schema collab_sync is
    'What collab-sync knows of its own tables: which migrations made them. Leave it to the command migrate.';
  create table collab_sync.migrations (
    id integer generated always as identity primary key,
    name varchar(255) not null unique,
    run_on timestamp not null
  );
  comment on table collab_sync.migrations is 'Migrations that were applied, in order.';
  comment on column collab_sync.migrations.id is 'Counts them.';
  comment on column collab_sync.migrations.name is 'File name without .sql.';
  comment on column collab_sync.migrations.run_on is 'When it was applied, in the time zone of that session.';`

// They keep the time at which the last one before was applied: later migrations come after it.
const MARK_BASELINE = `
  with removed as (delete from collab_sync.migrations where name = any($1) returning run_on)
  insert into collab_sync.migrations (name, run_on)
  select name, (select max(run_on) from removed)
  from unnest($2::text[]) with ordinality as baseline (name, n)
  order by n`

async function makeMigrationsTable(client: Client, place: string): Promise<void> {
  refuseOthers(await readApplied(client))
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass('collab_sync.migrations') is not null as exists`,
  )
  if (rows[0]?.exists) return
  try {
    await client.query(`begin; ${CREATE_TABLE}; commit`)
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error
    throw new EnvironmentError(
      `The role in DATABASE_URL may not create schemas at ${place}. Make it the database's owner, or \`grant create on database\` to it.`,
      { cause: error },
    )
  }
}

/** Migrations that come after the baseline are applied in the transaction that marks a database of before as being at it. */
async function applyPending(client: Client): Promise<string[]> {
  try {
    const isBeforeBaseline = (await readApplied(client)).some(isOfBefore)
    if (isBeforeBaseline) {
      await client.query('begin')
      const baseline = ownMigrations().filter((name) => BASELINE.test(name))
      await client.query(MARK_BASELINE, [BEFORE_BASELINE, baseline])
    }
    const applied = await runner({
      dbClient: client,
      dir: MIGRATIONS,
      migrationsSchema: 'collab_sync',
      migrationsTable: 'migrations',
      direction: 'up',
      singleTransaction: true,
      noLock: true,
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    })
    // The runner commits, but where nothing was pending.
    if (isBeforeBaseline) await client.query('commit')
    return applied.map(({ name }) => name)
  } catch (error) {
    throw new EnvironmentError(
      `A migration failed, and nothing was changed: ${(error as Error).message}.`,
      { cause: error },
    )
  }
}

async function grantReaderRole(client: Client): Promise<Migrated['readerRole']> {
  const statements = readFileSync(READER_ROLE, 'utf8')
  try {
    await client.query('begin')
    await client.query(statements)
    await client.query('commit')
    return { granted: true }
  } catch (error) {
    await client.query('rollback')
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error
    return { granted: false, statements }
  }
}

async function readApplied(from: Database | Client): Promise<string[]> {
  try {
    const { rows } = await from.query<{ name: string }>(
      'select name from collab_sync.migrations order by name',
    )
    return rows.map(({ name }) => name)
  } catch (error) {
    // No such table, no such schema.
    if (['42P01', '3F000'].includes(codeOf(error) ?? '')) return []
    throw error
  }
}

function refuseOthers(applied: string[]): void {
  const known = [...BEFORE_BASELINE, ...ownMigrations()]
  const unknown = applied.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new EnvironmentError(
      `The tables were made by a newer version of collab-sync (${unknown.join(', ')}). Update this program.`,
    )
  const lost = BEFORE_BASELINE.find((name) => !applied.includes(name))
  if (lost !== undefined && applied.some(isOfBefore))
    throw new UsageError(
      `The tables are too old for this program: they lack the migration ${lost}, which it holds no more. Run \`collab-sync migrate\` of commit ${LAST_COMMIT_BEFORE_BASELINE} first, then of this version.`,
    )
}

function isOfBefore(name: string): boolean {
  return BEFORE_BASELINE.includes(name)
}

function ownMigrations(): string[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.slice(0, -'.sql'.length))
    .toSorted()
}
