import { createHash } from 'node:crypto'
import { chmod, chown, mkdir, mkdtemp, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { EnvironmentError, UsageError } from '../../base/errors.ts'
import { homeError, OWN_DATABASE, type Home } from './home.ts'

/** Where root's server goes when its account cannot pass through the home's parents. */
const OUTSIDE = '/var/lib/collab-sync'

/**
 * The directory that the server's account owns and keeps its data in, made if it is missing:
 * `server` in the home, or a directory below `/var/lib/collab-sync` that a note in the home names.
 * Throws `UsageError` when it belongs to another user, `EnvironmentError` when it is gone or out
 * of reach. Hold the lock.
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
      `The data of COLLAB_SYNC_HOME (${home.directory}) was kept in ${noted}, which is gone: bring it back, or delete ${home.noteFile} and ${home.passwordFile} to begin anew.`,
    )
  try {
    const account = await accountForNewServer()
    if (account === null || (await canTraverse(home.directory, account)))
      return await makeInside(inside, account)
    return await makeOutside(home, account, log)
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
      `COLLAB_SYNC_HOME (${home.directory}) belongs to another user (its server runs as user id ${owner.uid}): run as the user who made it, or set COLLAB_SYNC_HOME to a directory of your own.`,
    )
  if (self === 0 && owner.uid === 0)
    throw new EnvironmentError(
      `${directory} belongs to root, and PostgreSQL does not run as root: give it back to the user it belonged to (chown -R), or set COLLAB_SYNC_HOME to another directory.`,
    )
  if (self === 0 && !(await canTraverse(directory, owner)))
    throw new EnvironmentError(
      `The PostgreSQL in ${directory} runs as user id ${owner.uid}, who may not pass through the directories above it: allow that (chmod o+x), or set COLLAB_SYNC_HOME to another directory.`,
    )
}

/** What others may not do for PostgreSQL to start: write as the group, and anything as anybody else. */
const FORBIDDEN = 0o027

/**
 * Takes the rights from a data directory with which PostgreSQL refuses to start: a volume with an `fsGroup` gives them at
 * every mount, an unpacked backup may have them. 0750 is allowed and stays. The directory of another user is left alone:
 * PostgreSQL says what is wrong.
 * @param uid the user that the server runs as; undefined on Windows
 * @throws EnvironmentError where the file system keeps the rights
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

async function makeInside(directory: string, account: Account | null): Promise<string> {
  await mkdir(directory, { mode: 0o700 })
  if (account !== null) await chown(directory, account.uid, account.gid)
  return directory
}

async function makeOutside(
  home: Home,
  account: Account,
  log: (line: string) => void,
): Promise<string> {
  // Set apart from the umask: the account has to pass through, and may see nothing else there.
  if ((await mkdir(OUTSIDE, { recursive: true })) !== undefined) await chmod(OUTSIDE, 0o711)
  const hash = createHash('sha256').update(home.directory).digest('hex').slice(0, 12)
  // Never one that is there already: it holds the data of a home that was deleted or moved.
  const directory = await mkdtemp(join(OUTSIDE, `${hash}-`))
  await chown(directory, account.uid, account.gid)
  await writeFile(home.noteFile, `${directory}\n`)
  log(
    `${home.directory} cannot be reached by the user that PostgreSQL runs as (id ${account.uid}): its data goes to ${directory}`,
  )
  return directory
}

function accountError(home: Home, error: unknown): Error {
  if (error instanceof EnvironmentError) return error
  const code = (error as NodeJS.ErrnoException).code
  if (process.getuid?.() === 0 && (code === 'EPERM' || code === 'EINVAL'))
    return new EnvironmentError(
      `PostgreSQL does not run as root, and this root may not hand files to another user (${code}): run as an ordinary user, or ${OWN_DATABASE}.`,
      { cause: error },
    )
  return homeError(home.directory, error)
}

/** The user that the server runs as, where that is not our own. */
export interface Account {
  uid: number
  gid: number
}

/** Debian and Red Hat, macOS, and what every other system has. */
const NAMES = ['postgres', '_postgres', 'nobody']

/**
 * The account for a new server, or null for our own: PostgreSQL refuses to run as root, so root
 * lends it one that may do nothing else. Throws `EnvironmentError` when there is no such account.
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
    `PostgreSQL does not run as root, and /etc/passwd has none of the users that it could run as (${NAMES.join(', ')}): add one, or ${OWN_DATABASE}.`,
  )
}

/** The account of a server that is there: the owner of its directory, or null for our own. */
export async function accountOf(serverDirectory: string): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null
  const { uid, gid } = await stat(serverDirectory)
  return { uid, gid }
}

/** Whether the account may pass through a directory and all above it, judged by their modes. */
export async function canTraverse(path: string, account: Account): Promise<boolean> {
  for (let directory = await realpath(path); ; directory = dirname(directory)) {
    const { mode, uid, gid } = await stat(directory)
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (directory === dirname(directory)) return true
  }
}
