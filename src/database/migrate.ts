import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import { EnvironmentError } from '../errors.ts'
import { renewOrganizationReaders } from './grants.ts'
import { checkDatabase, codeOf, describeDatabase, openDatabase } from './pool.ts'
import type { Client, Database } from './pool.ts'

/** What {@link migrate} did. */
export interface Migrated {
  /** Names of the migrations that were applied now, in order; empty when the tables were up to date. */
  applied: string[]
  /** `granted` is false where this role may not create or grant it; `statements` then do it. */
  readerRole: { granted: boolean; statements?: string }
}

/**
 * Brings the tables to this program's version, all pending migrations in one transaction, and sets up
 * the role `collab_reader`. Safe to repeat, and to run from several machines at once: they wait for
 * each other. A migration that fails leaves everything as it was.
 * @param url of the database, by a role that may create schemas in it; no superuser right is needed
 * @throws EnvironmentError where the server, the role's rights or the tables' version do not allow it
 */
export async function migrate(url: string): Promise<Migrated> {
  const database = openDatabase(url, { max: 1, applicationName: 'migrate' })
  try {
    await checkDatabase(database)
    const client = await database.connect()
    try {
      // Ledger, migrations and role under one lock of the session; closing the connection gives it back.
      await client.query('set statement_timeout = 0')
      await client.query('select pg_advisory_lock($1)', [MIGRATE_LOCK])
      await openLedger(client, describeDatabase(database))
      const applied = await applyPending(client)
      const readerRole = await grantReaderRole(client)
      await renewOrganizationReaders(client)
      return { applied, readerRole }
    } finally {
      client.release(true)
    }
  } finally {
    await database.end()
  }
}

/**
 * Looks whether the tables are of this program's version.
 * @throws EnvironmentError that says to run `collab-sync migrate`, or that the program is too old
 */
export async function requireSchema(database: Database): Promise<void> {
  const applied = await readLedger(database)
  refuseNewer(applied)
  if (applied.length === 0)
    throw new EnvironmentError(
      `The database at ${describeDatabase(database)} has no tables of collab-sync yet. Run \`collab-sync migrate\`.`,
    )
  const missing = ownMigrations().filter((name) => !applied.includes(name))
  if (missing.length > 0)
    throw new EnvironmentError(
      `The tables are older than this program: they lack ${missing.join(', ')}. Run \`collab-sync migrate\`.`,
    )
}

const MIGRATIONS = fileURLToPath(import.meta.resolve('#sql/migrations'))
const READER_ROLE = fileURLToPath(import.meta.resolve('#sql/roles/collab_reader.sql'))
const MIGRATE_LOCK = 4_013_071_001
const INSUFFICIENT_PRIVILEGE = '42501'

// A schema of its own: the migrator needs its ledger before the first migration makes any other schema.
const CREATE_LEDGER = `
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

async function openLedger(client: Client, place: string): Promise<void> {
  const applied = await readLedger(client)
  refuseNewer(applied)
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass('collab_sync.migrations') is not null as exists`,
  )
  if (rows[0]?.exists) return
  try {
    await client.query(`begin; ${CREATE_LEDGER}; commit`)
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error
    throw new EnvironmentError(
      `The role in DATABASE_URL may not create schemas at ${place}. Make it the database's owner, or \`grant create on database\` to it.`,
      { cause: error },
    )
  }
}

async function applyPending(client: Client): Promise<string[]> {
  try {
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

async function readLedger(from: Database | Client): Promise<string[]> {
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

function refuseNewer(applied: string[]): void {
  const known = ownMigrations()
  const unknown = applied.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new EnvironmentError(
      `The tables were made by a newer version of collab-sync (${unknown.join(', ')}). Update this program.`,
    )
}

function ownMigrations(): string[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.slice(0, -'.sql'.length))
    .toSorted()
}
