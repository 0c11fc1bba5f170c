import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EnvironmentError } from '../errors.ts'

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
export async function accountForNewServer(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null
  const users = (await readFile('/etc/passwd', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of NAMES) {
    const user = users.find((fields) => fields[0] === name)
    if (user !== undefined) return { uid: Number(user[2]), gid: Number(user[3]) }
  }
  throw new EnvironmentError(
    `PostgreSQL does not run as root, and /etc/passwd has none of the users that it could run as (${NAMES.join(', ')}): add one, or set DATABASE_URL to use a PostgreSQL of your own.`,
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
