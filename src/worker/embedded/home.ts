import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  access,
  chmod,
  constants,
  mkdir,
  readFile,
  realpath,
  rename,
  stat,
  writeFile,
} from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { EnvironmentError, UsageError } from '../../base/errors.ts'

/** What to do if the embedded PostgreSQL cannot be used; the demo ignores DATABASE_URL. */
export const OWN_DATABASE =
  'set DATABASE_URL to use a PostgreSQL of your own (the demo needs the embedded one)'

/** The paths of a home. */
export type Home = ReturnType<typeof homeAt>

/**
 * Creates the home if it is missing, and checks that it is writable.
 * @throws UsageError if it is no directory or not writable; EnvironmentError if the disk is full
 */
export async function openHome(path: string): Promise<Home> {
  const requested = resolve(path)
  try {
    const made = await mkdir(requested, { recursive: true, mode: 0o700 })
    // Root's server runs as another user, who needs access to a directory below. Files stay private.
    if (made !== undefined && process.getuid?.() === 0) await chmod(requested, 0o711)
    // The same for processes that use different links.
    const directory = await realpath(requested)
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    return homeAt(directory)
  } catch (error) {
    throw homeError(requested, error)
  }
}

/** True if this home has an embedded PostgreSQL, or one whose creation has begun. */
export function hasEmbeddedPostgres(home: string): boolean {
  return existsSync(homeAt(resolve(home)).passwordFile)
}

/** The error to report for a failed write in the home. */
export function homeError(path: string, error: unknown): Error {
  const code = (error as NodeJS.ErrnoException).code ?? String(error)
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new EnvironmentError(
      `The disk of COLLAB_SYNC_HOME (${path}) is full: free some space, or set COLLAB_SYNC_HOME to a directory on another disk.`,
      { cause: error },
    )
  return new UsageError(
    `COLLAB_SYNC_HOME (${path}) is not a directory that this user can write (${code}): set it to one that is, or ${OWN_DATABASE}.`,
    { cause: error },
  )
}

function homeAt(directory: string) {
  const passwordFile = join(directory, 'password')
  return {
    directory,
    lockFile: join(directory, 'lock'),
    /** Names the machine that has the server open. */
    machineFile: join(directory, 'machine'),
    logFile: join(directory, 'postgres.log'),
    passwordFile,
    /** Contains the path of the server's directory if that is not in the home. */
    noteFile: join(directory, 'server-directory'),
    /** The password of the server, created on first use. */
    password: () => readOrMakePassword(directory, passwordFile),
  }
}

async function readOrMakePassword(directory: string, file: string): Promise<string> {
  try {
    const { mode } = await stat(file)
    if ((mode & 0o077) !== 0) await chmod(file, 0o600)
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw homeError(directory, error)
  }
  const password = randomBytes(24).toString('hex')
  try {
    // Renamed, so that a killed process leaves no partial password.
    await writeFile(`${file}.new`, `${password}\n`, { mode: 0o600 })
    await rename(`${file}.new`, file)
  } catch (error) {
    throw homeError(directory, error)
  }
  return password
}
