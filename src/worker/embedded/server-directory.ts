import { createHash } from 'node:crypto'
import { chmod, chown, mkdir, mkdtemp, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { EnvironmentError, UsageError } from '../../base/errors.ts'
import { homeError, OWN_DATABASE, type Home } from './home.ts'

/** The server's directory for root, if the server's account cannot access the home. */
const OUTSIDE = '/var/lib/collab-sync'

/** Accounts for root's server: of Debian and Red Hat, macOS, and other systems. */
const NAMES = ['postgres', '_postgres', 'nobody']

/**
 * The directory of the server's account, which is created if it is missing: `server` in the home, or a directory in
 * `/var/lib/collab-sync` whose path a file in the home contains. Requires the lock.
 * @throws UsageError if it belongs to another user; EnvironmentError if it is missing or not accessible
 */
export async function openServerDirectory(
  home: Home,
  log: (line: string) => void,
): Promise<string> {
  const inside = join(home.directory, 'server')
  const noted = await readNote(home)
  const owner = await ownerOf(noted ?? inside)
  if (owner !== null) {
    await checkOwner(home, noted ?? inside, owner)
    return noted ?? inside
  }
  if (noted !== null)
    throw new EnvironmentError(
      `The data of COLLAB_SYNC_HOME (${home.directory}) was in ${noted}, which no longer exists: restore it, or delete ${home.noteFile} and ${home.passwordFile} to create a new PostgreSQL.`,
    )
  try {
    const account = await accountForNewServer()
    if (account !== null && !(await canTraverse(home.directory, account)))
      return await makeOutside(home, account, log)
    await mkdir(inside, { mode: 0o700 })
    if (account !== null) await chown(inside, account.uid, account.gid)
    return inside
  } catch (error) {
    throw accountError(home, error)
  }
}

async function readNote(home: Home): Promise<string | null> {
  try {
    return (await readFile(home.noteFile, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw homeError(home.directory, error)
  }
}

async function ownerOf(directory: string): Promise<Account | null> {
  try {
    const { uid, gid } = await stat(directory)
    return { uid, gid }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

async function checkOwner(home: Home, directory: string, owner: Account): Promise<void> {
  const self = process.getuid?.()
  if (self === undefined) return
  if (self !== 0 && owner.uid !== self)
    throw new UsageError(
      `COLLAB_SYNC_HOME (${home.directory}) belongs to another user (its server runs as user id ${owner.uid}): run as the user who created it, or set COLLAB_SYNC_HOME to a directory of your own.`,
    )
  if (self === 0 && owner.uid === 0)
    throw new EnvironmentError(
      `${directory} belongs to root, and PostgreSQL does not run as root: change its owner back (chown -R), or set COLLAB_SYNC_HOME to another directory.`,
    )
  if (self === 0 && !(await canTraverse(directory, owner)))
    throw new EnvironmentError(
      `The PostgreSQL in ${directory} runs as user id ${owner.uid}, who cannot access the directories above it: allow that (chmod o+x), or set COLLAB_SYNC_HOME to another directory.`,
    )
}

/** Rights with which PostgreSQL refuses to start: write for the group, and all rights of others. */
const FORBIDDEN = 0o027

/**
 * Removes the rights from a data directory with which PostgreSQL refuses to start. A volume with an `fsGroup` gets them at
 * every mount, and an unpacked backup may have them. 0750 is allowed and stays. The directory of another user is not
 * changed, because PostgreSQL reports the problem.
 * @param uid the user that the server runs as; undefined on Windows
 * @throws EnvironmentError if the file system keeps the rights
 */
export async function restrictDataDirectory(
  directory: string,
  uid: number | undefined,
): Promise<void> {
  const before = await stat(directory)
  if ((before.mode & FORBIDDEN) === 0 || before.uid !== uid) return
  const refusal = await chmod(directory, before.mode & 0o7777 & ~FORBIDDEN).then(
    () => null,
    (error: NodeJS.ErrnoException) => error,
  )
  const { mode } = await stat(directory)
  if ((mode & FORBIDDEN) === 0) return
  throw new EnvironmentError(
    `PostgreSQL does not start because other users have rights on ${directory} (mode 0${(mode & 0o777).toString(8)}), and they could not be removed (${refusal?.code ?? 'the file system keeps them'}): run chmod g-w,o-rwx ${directory}, or set COLLAB_SYNC_HOME to a directory on another file system.`,
    { cause: refusal },
  )
}

async function makeOutside(
  home: Home,
  account: Account,
  log: (line: string) => void,
): Promise<string> {
  // Independent of the umask: the account needs access to its directory, but may not list the others.
  if ((await mkdir(OUTSIDE, { recursive: true })) !== undefined) await chmod(OUTSIDE, 0o711)
  const hash = createHash('sha256').update(home.directory).digest('hex').slice(0, 12)
  // Always a new one, because an existing one contains the data of a home that was deleted or moved.
  const directory = await mkdtemp(join(OUTSIDE, `${hash}-`))
  await chown(directory, account.uid, account.gid)
  await writeFile(home.noteFile, `${directory}\n`)
  log(
    `The user that PostgreSQL runs as (id ${account.uid}) cannot access ${home.directory}: the data is stored in ${directory}`,
  )
  return directory
}

function accountError(home: Home, error: unknown): Error {
  if (error instanceof EnvironmentError) return error
  const code = (error as NodeJS.ErrnoException).code
  if (process.getuid?.() === 0 && (code === 'EPERM' || code === 'EINVAL'))
    return new EnvironmentError(
      `PostgreSQL does not run as root, and this root user cannot change the owner of files (${code}): run as another user, or ${OWN_DATABASE}.`,
      { cause: error },
    )
  return homeError(home.directory, error)
}

/** The user that the server runs as, if it is not the current one. */
export interface Account {
  uid: number
  gid: number
}

/**
 * The account for a new server, or null for the current user. PostgreSQL refuses to run as root, so that root needs an
 * unprivileged account.
 * @throws EnvironmentError if there is no such account
 */
async function accountForNewServer(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null
  const users = (await readFile('/etc/passwd', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of NAMES) {
    const user = users.find((fields) => fields[0] === name)
    if (user !== undefined) return { uid: Number(user[2]), gid: Number(user[3]) }
  }
  throw new EnvironmentError(
    `PostgreSQL does not run as root, and /etc/passwd has none of the users ${NAMES.join(', ')}: add one of them, or ${OWN_DATABASE}.`,
  )
}

/** The account of an existing server: the owner of its directory, or null for the current user. */
export async function accountOf(serverDirectory: string): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null
  const { uid, gid } = await stat(serverDirectory)
  return { uid, gid }
}

/** Whether the modes of a directory and its parents let the account access it. */
export async function canTraverse(path: string, account: Account): Promise<boolean> {
  for (let directory = await realpath(path); ; directory = dirname(directory)) {
    const { mode, uid, gid } = await stat(directory)
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (directory === dirname(directory)) return true
  }
}
