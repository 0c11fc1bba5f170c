import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SchemaError } from '../../base/errors.ts'
import { version } from '../../base/version.ts'
import { codeOf, describeDatabase } from './connection-errors.ts'
import type { Client, Database } from './pool.ts'
import type { RowOf } from './statement.ts'
import * as migrations from './statements/migrations.ts'

export const INSUFFICIENT_PRIVILEGE = '42501'

/** A migration that this program has. */
export type Migration = Readonly<ReturnType<typeof readMigration>>

/** The tables of a database as this program finds them. */
export interface Tables {
  /**
   * `current`: this program's own. `understood`: newer, and this version works with them. `missing` and `older`: `migrate`
   * makes them current. `unreleased`: made before 0.1.0. `edited`: a migration was applied with other content. `foreign`: made by
   * a program with other migrations. `newer`: this version does not work with them.
   */
  readonly state:
    'current' | 'understood' | 'missing' | 'older' | 'unreleased' | 'edited' | 'foreign' | 'newer'
  /** Two sentences: what is wrong, and what to do. What is special, where nothing is wrong; null if nothing is. */
  readonly sentences: string | null
  /** Migrations that `migrate` has to apply, in order. */
  readonly pending: readonly Migration[]
}

const PENDING: readonly Tables['state'][] = ['missing', 'older']
const USABLE: readonly Tables['state'][] = ['current', 'understood']

/**
 * Checks that this program works with the tables.
 * @param place of the database in the message, such as ` (host:5432)`; empty if the message must contain no address
 * @throws SchemaError that says what is wrong and what to do
 */
export async function requireSchema(
  database: Database,
  place = ` (${describeDatabase(database)})`,
): Promise<void> {
  const tables = await readTables(database, place).catch((error: unknown) => {
    // A role that may only read the views may not read this. If something is missing, PostgreSQL then names it.
    if (codeOf(error) === INSUFFICIENT_PRIVILEGE) return null
    throw error
  })
  if (tables !== null && !USABLE.includes(tables.state)) throw schemaError(tables)
}

/** @throws SchemaError for tables that `migrate` must not change */
export function requireMigratable(tables: Tables): void {
  if (![...USABLE, ...PENDING].includes(tables.state)) throw schemaError(tables)
}

function schemaError({ state, sentences }: Tables): SchemaError {
  return new SchemaError(sentences ?? '', { isPending: PENDING.includes(state) })
}

/** Compares the applied migrations with this program's, by name and checksum. @param place as in requireSchema */
export async function readTables(from: Database | Client, place = ''): Promise<Tables> {
  const own = ownMigrations()
  const applied = await readApplied(from)
  if (applied === null) return { state: 'unreleased', sentences: UNRELEASED, pending: [] }
  const pending = own.filter(({ name }) => applied.every((each) => each.name !== name))
  return { ...judge(applied, own, pending[0], place), pending }
}

function judge(
  applied: readonly Applied[],
  own: readonly Migration[],
  missing: Migration | undefined,
  place: string,
): Omit<Tables, 'pending'> {
  const unknown = applied.filter(({ name }) => own.every((each) => each.name !== name))
  const edited = applied.find(({ name, checksum }) =>
    own.some((each) => each.name === name && each.checksum !== checksum),
  )
  if (applied.length === 0)
    return {
      state: 'missing',
      sentences: `The database has no tables of collab-sync yet${place}. Run \`collab-sync migrate\`.`,
    }
  if (edited !== undefined)
    return {
      state: 'edited',
      sentences: `The migration ${edited.name} of these tables, applied by a build of version ${edited.version}, differs from that of this program. ${OTHER_BUILD}`,
    }
  if (unknown.length > 0 && missing !== undefined)
    return {
      state: 'foreign',
      sentences: `The tables have the migration ${unknown[0]?.name}, which this program does not have, and lack ${missing.name}. ${OTHER_BUILD}`,
    }
  if (unknown.length > 0) {
    const names = unknown.map(({ name }) => name).join(', ')
    const newest = unknown.at(-1)?.version
    return unknown.every(isUnderstood)
      ? {
          state: 'understood',
          sentences: `The tables are of version ${newest} (${names}), and this version, ${version()}, works with them.`,
        }
      : {
          state: 'newer',
          sentences: `The tables were made by a newer version of collab-sync, ${newest} (${names}). Update this program.`,
        }
  }
  if (missing !== undefined)
    return {
      state: 'older',
      sentences: `The tables are older than this program: they lack the migration ${missing.name}. Run \`collab-sync migrate\`.`,
    }
  return { state: 'current', sentences: null }
}

const NEW_DATABASE =
  'set DATABASE_URL to a new database (without DATABASE_URL: COLLAB_SYNC_HOME to a new directory), then run `collab-sync migrate` and import the catalog; the next run fetches everything again.'
const UNRELEASED = `The tables were made before version 0.1.0 and cannot be upgraded. To use this version, ${NEW_DATABASE}`
const OTHER_BUILD = `Use the build that made the tables, or ${NEW_DATABASE}`

type Applied = RowOf<typeof migrations.list>

/** The applied migrations, in order; empty if there are none, null if they were applied before 0.1.0. */
async function readApplied(from: Database | Client): Promise<Applied[] | null> {
  try {
    return await migrations.list.all(from)
  } catch (error) {
    const code = codeOf(error) ?? ''
    // No such table, no such schema.
    if (['42P01', '3F000'].includes(code)) return []
    // No such column.
    if (code === '42703') return null
    throw error
  }
}

/** Versions are three numbers: the line `-- Works with:` of a released migration names no other. */
function isUnderstood({ worksWith: from }: Applied): boolean {
  return from !== null && from.localeCompare(version(), 'en', { numeric: true }) <= 0
}

const MIGRATIONS = fileURLToPath(import.meta.resolve('#sql/migrations'))
let own: readonly Migration[] | null = null

/** The migrations of this program, in order; read once. */
function ownMigrations(): readonly Migration[] {
  own ??= readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => readMigration(join(MIGRATIONS, name)))
  return own
}

function readMigration(path: string) {
  const sql = readFileSync(path, 'utf8')
  return {
    /** Name of the file without .sql. */
    name: basename(path, '.sql'),
    sql,
    /** SHA-256 of the file. */
    checksum: createHash('sha256').update(sql).digest('hex'),
    /** From its line `-- Works with: 0.1.0`: the oldest version that also works with the tables that it makes. */
    worksWith: /^-- Works with: (\S+)$/m.exec(sql)?.[1] ?? null,
  }
}
