import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { EnvironmentError } from '../../base/errors.ts'
import { serverEnvironment } from './binaries.ts'
import type { Binaries } from './binaries.ts'
import { homeError, OWN_DATABASE } from './home.ts'
import type { Home } from './home.ts'
import type { Account } from './server-directory.ts'

/** Everything that is needed to run the server of one home. */
export interface Cluster {
  home: Home
  /** Belongs to the server's account; holds the data and maybe a copy of the programs. */
  serverDirectory: string
  dataDirectory: string
  account: Account | null
  password: string
  binaries: Binaries
}

const run = promisify(execFile)

/**
 * Written into postgresql.conf, where whoever wants to may change them. Durability is left at
 * PostgreSQL's defaults. Statements and details stay out of the log: they hold people's comments.
 */
const SETTINGS = [
  'shared_buffers=128MB',
  'max_connections=200',
  'autovacuum_naptime=10s',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
  'log_min_error_statement=panic',
  'log_error_verbosity=terse',
]

/**
 * Makes the data directory if there is none; true if it did. Hold the lock.
 * Throws `EnvironmentError` when what is there is of another major version (and leaves it alone),
 * when its password is lost, or when initdb fails.
 */
export async function createClusterIfMissing(
  cluster: Cluster,
  log: (line: string) => void,
  signal?: AbortSignal,
): Promise<boolean> {
  const { dataDirectory, binaries } = cluster
  const version = await readFile(join(dataDirectory, 'PG_VERSION'), 'utf8').catch(() => null)
  if (version === null) {
    log(`creating a PostgreSQL ${binaries.version} cluster in ${dataDirectory}`)
    await create(cluster, signal)
    return true
  }
  const major = binaries.version.split(/\D/)[0]
  if (version.trim() !== major)
    throw new EnvironmentError(
      `The data in ${dataDirectory} is of PostgreSQL ${version.trim()}, and this collab-sync carries PostgreSQL ${binaries.version}. It was not touched: set COLLAB_SYNC_HOME to a new directory and sync again, or move the data with pg_dump of PostgreSQL ${version.trim()} to a server named in DATABASE_URL.`,
    )
  return false
}

async function create(cluster: Cluster, signal: AbortSignal | undefined): Promise<void> {
  const { serverDirectory, dataDirectory, account, password, binaries, home } = cluster
  const unfinished = join(serverDirectory, `data-${randomBytes(4).toString('hex')}.new`)
  const passwordFile = `${unfinished}.password`
  try {
    for (const name of await readdir(serverDirectory))
      if (/^data-.*\.new/.test(name))
        await rm(join(serverDirectory, name), { recursive: true, force: true })
    // initdb runs as the server's account, which cannot read the home's own password file.
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
    if (account !== null) await chown(passwordFile, account.uid, account.gid)
    await run(binaries.initdb, initdbArguments(unfinished, passwordFile), {
      ...account,
      cwd: serverDirectory,
      env: serverEnvironment(),
      signal,
    })
    // A kill during initdb leaves an unfinished directory, never half a cluster under this name.
    await rename(unfinished, dataDirectory)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    const { stderr, message } = error as { stderr?: string; message: string }
    if (stderr === undefined) throw homeError(home.directory, error)
    if (stderr.includes('No space left on device'))
      throw homeError(home.directory, { code: 'ENOSPC' })
    if (stderr.includes('could not look up effective user ID'))
      throw new EnvironmentError(
        `PostgreSQL does not run as a user without a name (id ${process.getuid?.()}): give it a line in /etc/passwd, or ${OWN_DATABASE}.`,
        { cause: error },
      )
    throw new EnvironmentError(
      `PostgreSQL could not make its data directory in ${serverDirectory}: ${stderr.trim() || message}`,
      { cause: error },
    )
  } finally {
    await rm(passwordFile, { force: true })
  }
}

function initdbArguments(directory: string, passwordFile: string): string[] {
  return [
    '-D',
    directory,
    '-U',
    'collab_sync',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    // Built in, so that text of any script sorts and matches the same on every machine.
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...SETTINGS.flatMap((setting) => ['-c', setting]),
  ]
}
