import { randomBytes } from 'node:crypto'
import { chown, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EnvironmentError } from '../../base/errors.ts'
import { runAs, usableBinaries } from './binaries.ts'
import { homeError, OWN_DATABASE } from './home.ts'
import type { Home } from './home.ts'
import { accountOf, openServerDirectory } from './server-directory.ts'

/** What is needed to run the server of one home. */
export type Cluster = Awaited<ReturnType<typeof openCluster>>

/** Finds or creates all of it but the data. Requires the lock. @throws as openServerDirectory and usableBinaries */
export async function openCluster(home: Home, log: (line: string) => void) {
  const serverDirectory = await openServerDirectory(home, log)
  const account = await accountOf(serverDirectory)
  return {
    home,
    /** Belongs to the server's account. Contains the data, and a copy of the programs if one was needed. */
    serverDirectory,
    account,
    dataDirectory: join(serverDirectory, 'data'),
    password: await home.password(),
    binaries: await usableBinaries(serverDirectory, account),
  }
}

/**
 * Written to postgresql.conf, where a user may change them. Durability has PostgreSQL's defaults. Statements and details are
 * not logged, because they contain comments.
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
 * Creates the data directory if it does not exist. Requires the lock.
 * @returns true if it was created
 * @throws EnvironmentError if the data is of another major version, which is not changed, or if initdb fails
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
      `The data in ${dataDirectory} is of PostgreSQL ${version.trim()}, and this collab-sync contains PostgreSQL ${binaries.version}. It was not changed: set COLLAB_SYNC_HOME to a new directory and sync again, or move the data with pg_dump of PostgreSQL ${version.trim()} to a server and set DATABASE_URL.`,
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
    await runAs(account, binaries.initdb, initdbArguments(unfinished, passwordFile), { signal })
    // If initdb is killed, only the unfinished directory remains.
    await rename(unfinished, dataDirectory)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    const { stderr, message } = error as { stderr?: string; message: string }
    if (stderr === undefined) throw homeError(home.directory, error)
    if (stderr.includes('No space left on device'))
      throw homeError(home.directory, { code: 'ENOSPC' })
    if (stderr.includes('could not look up effective user ID'))
      throw new EnvironmentError(
        `PostgreSQL does not run as a user without a name (id ${process.getuid?.()}): add the user to /etc/passwd, or ${OWN_DATABASE}.`,
        { cause: error },
      )
    throw new EnvironmentError(
      `PostgreSQL could not create its data directory in ${serverDirectory}: ${stderr.trim() || message}`,
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
    // The built-in locale sorts and matches text equally on every machine.
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...SETTINGS.flatMap((setting) => ['-c', setting]),
  ]
}
