import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { EnvironmentError } from '../../base/errors.ts'
import type { Cluster } from './cluster.ts'
import { homeError } from './home.ts'

/** `application_name` of the connection that each process keeps open while it uses the server. */
const LEASE = 'collab-sync lease'
const RETRY_MS = 100

/**
 * Takes a lease and creates missing databases. A lease is a process that uses the server: an open connection, which ends when
 * the process ends or is killed. Requires the lock, because PostgreSQL has no `create database if not exists`.
 * @returns releases it, and requires the lock too
 * @throws EnvironmentError if the password is wrong or the disk is full
 */
export async function takeLease(
  cluster: Cluster,
  port: number,
  databases: string[],
): Promise<() => Promise<void>> {
  let client = await connect(cluster, port, LEASE)
  let isReleased = false

  /** After a crash another process may start the server again, and must not stop it while this process uses it. */
  const renewWhenLost = () => {
    client.once('end', () => void renew())
  }
  const renew = async () => {
    let renewed: pg.Client | null = null
    while (renewed === null && !isReleased) {
      await sleep(RETRY_MS, undefined, { ref: false })
      renewed = await connect(cluster, port, LEASE).catch(() => null)
    }
    if (renewed === null) return
    if (isReleased) return renewed.end()
    client = renewed
    renewWhenLost()
  }

  const release = async () => {
    isReleased = true
    // The session may exist for a moment after the connection is closed, and would count as a lease.
    await client.query(`set application_name = ''`).catch(() => {})
    await client.end()
  }

  try {
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database')
    for (const name of databases)
      if (!rows.some(({ datname }) => datname === name))
        await client.query(`create database ${pg.escapeIdentifier(name)}`)
  } catch (error) {
    await client.end()
    throw problemOf(cluster, error)
  }
  renewWhenLost()
  return release
}

/** The number of leases, or null if the server cannot be queried. Requires the lock. */
export async function countLeases(cluster: Cluster, port: number): Promise<number | null> {
  const client = await connect(cluster, port, 'collab-sync').catch(() => null)
  if (client === null) return null
  try {
    const { rowCount } = await client.query(
      'select from pg_stat_activity where application_name = $1',
      [LEASE],
    )
    return rowCount
  } finally {
    await client.end()
  }
}

async function connect(
  cluster: Cluster,
  port: number,
  applicationName: string,
): Promise<pg.Client> {
  for (;;) {
    const client = new pg.Client({
      host: '127.0.0.1',
      port,
      user: 'collab_sync',
      password: cluster.password,
      database: 'postgres',
      application_name: applicationName,
      // These override PGSSLMODE, PGSSLNEGOTIATION and PGOPTIONS.
      ssl: false,
      sslnegotiation: 'postgres',
      options: '-c client_encoding=UTF8',
      connectionTimeoutMillis: 5_000,
    })
    // Without a listener, a server that ends would end this process.
    client.on('error', () => {})
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => {})
      // SQLSTATE 57P03 cannot_connect_now: the server is in recovery, or stops and refuses the next connection.
      if ((error as { code?: string }).code !== '57P03') throw problemOf(cluster, error)
      await sleep(RETRY_MS)
    }
  }
}

function problemOf({ home }: Cluster, error: unknown): unknown {
  // SQLSTATEs: 28P01 invalid_password, 53100 disk_full.
  const { code } = error as { code?: string }
  if (code === '53100') return homeError(home.directory, { code: 'ENOSPC' })
  if (code !== '28P01') return error
  return new EnvironmentError(
    `The password in ${home.passwordFile} is not that of the PostgreSQL in this directory: restore the file, or set COLLAB_SYNC_HOME to a new directory and sync again.`,
    { cause: error },
  )
}
