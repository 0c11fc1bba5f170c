import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { migrateQueue } from '../../src/core/queue/backend.ts'
import { closedAtEnd } from './closing.ts'

export interface TestDatabase {
  url: string
  /** Opened as the program opens it. */
  pool: Database
  /** The rows of a statement. */
  rows<T = any>(text: string, ...values: unknown[]): Promise<T[]>
  /** Closes the pool and drops the database, even if others are connected; done at the latest when the test or its file ends. */
  drop(): Promise<void>
}

/** An empty database of its own, as `collab-sync migrate` leaves it: a copy of the run's template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(async (server, name) => {
    const template = `${databasePrefix()}_template`
    await ensureTemplate(server, template)
    await server.query(`create database ${name} template ${template} ${await fileCopy(server)}`)
  })
}

/**
 * A database without any of our tables.
 * @param options of `create database`, such as a locale
 */
export async function createEmptyDatabase(options = ''): Promise<TestDatabase> {
  return createDatabase(async (server, name) => {
    await server.query(`create database ${name} template template0 ${options}`)
  })
}

/** Begins the name of each database of this run, which removes them. */
export function databasePrefix(): string {
  return `cs_test_${inject('runId')}`
}

/** Runs statements as the server's superuser, outside of any test database. */
export async function onServer<T>(work: (server: pg.Client) => Promise<T>): Promise<T> {
  const server = new pg.Client(inject('postgresUrl'))
  await server.connect()
  try {
    return await work(server)
  } finally {
    await server.end()
  }
}

/** The URL with other members, such as a user and password of the test's own. */
export function urlWith(
  url: string,
  parts: { username?: string; password?: string; database?: string; port?: number },
): string {
  const changed = new URL(url)
  if (parts.username !== undefined) changed.username = parts.username
  if (parts.password !== undefined) changed.password = parts.password
  if (parts.database !== undefined) changed.pathname = parts.database
  if (parts.port !== undefined) changed.port = String(parts.port)
  return changed.href
}

async function createDatabase(
  create: (server: pg.Client, name: string) => Promise<void>,
): Promise<TestDatabase> {
  const name = `${databasePrefix()}_${randomBytes(5).toString('hex')}`
  await onServer(async (server) => {
    // PostgreSQL refuses to copy a template twice at a time, and only one may make ours.
    await server.query(`select pg_advisory_lock(hashtext('cs_test'))`)
    await create(server, name)
  })
  return openTestDatabase(urlWith(inject('postgresUrl'), { database: name }), () =>
    onServer(async (server) => server.query(`drop database if exists ${name} with (force)`)),
  )
}

/** One that somebody else makes and drops, unless told how. */
export function openTestDatabase(
  url: string,
  drop: () => Promise<unknown> = async () => {},
): TestDatabase {
  const pool = openDatabase(url, { applicationName: 'test' })
  return {
    url,
    pool,
    rows: async (text, ...values) => (await pool.query(text, values)).rows,
    drop: closedAtEnd(async () => {
      await pool.end()
      await drop()
    }),
  }
}

/** Cheaper than a copy through the WAL, the default since PostgreSQL 15 (docs/decisions/2026-11-22-tests-by-cpu.md). */
async function fileCopy(server: pg.Client): Promise<string> {
  const { rows } = await server.query(
    "select current_setting('server_version_num')::int as version",
  )
  return rows[0].version >= 150_000 ? 'strategy file_copy' : ''
}

async function ensureTemplate(server: pg.Client, template: string): Promise<void> {
  const { rowCount } = await server.query('select from pg_database where datname = $1', [template])
  if (rowCount === 1) return
  await server.query(`create database ${template}`)
  try {
    const url = urlWith(inject('postgresUrl'), { database: template })
    // Selects every operation, also one that a later migration adds.
    await migrate(url, { freshnessPromiseMs: 26 * 3_600_000 })
    await migrateQueue({ kind: 'postgres', url })
  } catch (error) {
    await server.query(`drop database ${template} with (force)`)
    throw error
  }
}
