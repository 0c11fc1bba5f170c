import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './servers.ts'
import type { Server } from './servers.ts'
import { until } from './until.ts'

/**
 * Nothing of it outlives the run, so nothing waits for a disk. Without autovacuum what a test reads of statistics and
 * sizes is its own doing.
 */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '256MB',
  autovacuum: 'off',
  max_connections: '200',
  max_prepared_transactions: '4',
  shared_buffers: '128MB',
  timezone: 'UTC',
  jit: 'off',
}

const run = promisify(execFile)

/**
 * A server of the run's own with the programs of another one on this machine, so of its version too; null where they
 * are not to be found here. A database is a thousand files: in the folder of the run they mostly are in memory.
 * @param files put into its data directory first, by name
 */
export async function startLike(
  url: string,
  settings: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): Promise<Server | null> {
  const made = await makeDirectory(url)
  if (made === null) return null
  const { uid, gid } = made.account
  for (const [name, text] of Object.entries(files)) {
    const path = join(made.directory, name)
    await writeFile(path, text, { mode: 0o600 })
    if (uid !== undefined) await chown(path, uid, gid ?? uid)
  }
  return startIn(made, made.directory, { ...SETTINGS, ...settings })
}

/** A server and its standby. */
export interface Pair {
  readonly primary: Server
  readonly standby: Server
}

/** As {@link startLike}, with a standby that has what is committed. */
export async function startPairLike(url: string): Promise<Pair | null> {
  const made = await makeDirectory(url)
  if (made === null) return null
  const replicating = { ...SETTINGS, wal_level: 'replica', max_wal_senders: '4' }
  const waiting = { ...replicating, synchronous_commit: 'remote_apply' }
  // A standby begins from data that says so of the log behind it.
  await (await startIn(made, made.directory, replicating)).stop()
  const copy = `${made.directory}-standby`
  await run('cp', ['-a', made.directory, copy])
  const primary = await startIn(made, made.directory, {
    ...waiting,
    synchronous_standby_names: '*',
  })
  await writeFile(join(copy, 'standby.signal'), '')
  const standby = await startIn(made, copy, {
    ...waiting,
    primary_conninfo: `host=127.0.0.1 port=${new URL(primary.url).port} user=postgres`,
  })
  return { primary, standby }
}

interface Made {
  readonly programs: string
  readonly directory: string
  readonly account: { uid?: number; gid?: number }
}

async function makeDirectory(url: string): Promise<Made | null> {
  const { programs, data, version } = await serverAt(url)
  const owner = await stat(data).catch(() => null)
  if (owner === null || !existsSync(join(programs, 'initdb'))) return null
  // PostgreSQL does not run as root, who lends it the other server's account.
  const account = process.getuid?.() === 0 ? { uid: owner.uid, gid: owner.gid } : {}
  const directory = await mkdtemp(join(tmpdir(), 'postgres-'))
  if (account.uid !== undefined) await chown(directory, account.uid, account.gid)
  await chmod(directory, 0o700)
  const initdb = ['-D', directory, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  // Text sorts and matches as in the embedded PostgreSQL.
  const locale =
    version < 170_000
      ? ['--locale=C.UTF-8']
      : ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  await run(join(programs, 'initdb'), [...initdb, ...locale], {
    ...account,
    cwd: directory,
  })
  return { programs, directory, account }
}

async function startIn(
  { programs, account }: Made,
  directory: string,
  settings: Readonly<Record<string, string>>,
): Promise<Server & { stop(): Promise<void> }> {
  const port = await freePort()
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(programs, 'postgres'), ['-D', directory, '-p', `${port}`, ...flags], {
    ...account,
    cwd: directory,
    stdio: 'ignore',
  })
  const ended = once(server, 'exit')
  const own = `postgres://postgres@127.0.0.1:${port}/postgres`
  await until('the server of the tests accepts connections', () => {
    if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`)
    return accepts(own)
  })
  return {
    url: own,
    async stop() {
      server.kill('SIGINT')
      await ended
    },
    async close() {
      // Immediate: its data is removed.
      server.kill('SIGQUIT')
      await ended
      await rm(directory, { recursive: true, force: true })
    },
  }
}

interface ServerThere {
  readonly programs: string
  readonly data: string
  readonly version: number
}

async function serverAt(url: string): Promise<ServerThere> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<ServerThere>(
      `select current_setting('data_directory') as data,
        current_setting('server_version_num')::int as version,
        (select setting from pg_config where name = 'BINDIR') as programs`,
    )
    return rows[0] as ServerThere
  } finally {
    await client.end()
  }
}

async function accepts(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  return client.connect().then(
    async () => (await client.end(), true),
    () => false,
  )
}
