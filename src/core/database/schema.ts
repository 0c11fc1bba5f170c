import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SchemaError } from '../../base/errors.ts'
import { codeOf, describeDatabase } from './connection-errors.ts'
import type { Client, Database } from './pool.ts'

export const MIGRATIONS = fileURLToPath(import.meta.resolve('#sql/migrations'))
export const INSUFFICIENT_PRIVILEGE = '42501'

/**
 * Checks that the tables are of this program's version.
 * @throws SchemaError that says to run `collab-sync migrate`, or that the program is too old
 */
export async function requireSchema(database: Database): Promise<void> {
  const applied = await readApplied(database).catch((error: unknown) => {
    // A role that may only read the views may not read this. If something is missing, PostgreSQL then names it.
    if (codeOf(error) === INSUFFICIENT_PRIVILEGE) return ownMigrations()
    throw error
  })
  refuseOthers(applied)
  if (applied.length === 0)
    throw new SchemaError(
      `The database at ${describeDatabase(database)} has no tables of collab-sync yet. Run \`collab-sync migrate\`.`,
    )
  if (!ownMigrations().every((name) => applied.includes(name)))
    throw new SchemaError(
      `The tables are older than this program: their last migration is ${applied.at(-1)}. Run \`collab-sync migrate\`.`,
    )
}

/** Names of the applied migrations, in order; empty where there are none of ours. */
export async function readApplied(from: Database | Client): Promise<string[]> {
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

/** @throws SchemaError where a newer version applied migrations */
export function refuseOthers(applied: string[]): void {
  const own = ownMigrations()
  const unknown = applied.filter((name) => !own.includes(name))
  if (unknown.length > 0)
    throw new SchemaError(
      `The tables were made by a newer version of collab-sync (${unknown.join(', ')}). Update this program.`,
    )
}

function ownMigrations(): string[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.slice(0, -'.sql'.length))
    .toSorted()
}
