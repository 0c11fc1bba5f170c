import pg from 'pg'
import { EnvironmentError } from '../../base/errors.ts'
import type { Cluster } from './cluster.ts'
import { homeError, type Home } from './home.ts'

/**
 * Creates those of the databases that are missing. Hold the lock: PostgreSQL has no
 * `create database if not exists`. Throws `EnvironmentError` when the password is not the
 * server's or the disk is full.
 */
export async function createMissingDatabases(
  cluster: Cluster,
  port: number,
  names: string[],
): Promise<void> {
  const client = clientOf(cluster, port)
  try {
    await client.connect()
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database')
    for (const name of names)
      if (!rows.some(({ datname }) => datname === name))
        await client.query(`create database ${pg.escapeIdentifier(name)}`)
  } catch (error) {
    throw problemOf(cluster.home, error)
  } finally {
    await client.end()
  }
}

/**
 * Whether the server takes connections yet: one that starts or stops does not.
 * Throws `EnvironmentError` when the password is not the server's.
 */
export async function acceptsConnections(cluster: Cluster, port: number): Promise<boolean> {
  const client = clientOf(cluster, port)
  try {
    await client.connect()
    return true
  } catch (error) {
    const problem = problemOf(cluster.home, error)
    if (problem instanceof EnvironmentError) throw problem
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

function clientOf({ password }: Cluster, port: number): pg.Client {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'collab_sync',
    password,
    database: 'postgres',
    // Not those of the environment (PGSSLMODE, PGSSLNEGOTIATION, PGOPTIONS).
    ssl: false,
    sslnegotiation: 'postgres',
    options: '-c client_encoding=UTF8',
    connectionTimeoutMillis: 5_000,
  })
  // The promises tell of it too; without a listener a server that goes would end this process.
  client.on('error', () => {})
  return client
}

function problemOf(home: Home, error: unknown): unknown {
  // SQLSTATEs: 28P01 invalid_password, 53100 disk_full.
  const { code } = error as { code?: string }
  if (code === '53100') return homeError(home.directory, { code: 'ENOSPC' })
  if (code !== '28P01') return error
  return new EnvironmentError(
    `The password in ${home.passwordFile} is not the one of the PostgreSQL of this directory: bring the file back, or set COLLAB_SYNC_HOME to a new directory and sync again.`,
    { cause: error },
  )
}
