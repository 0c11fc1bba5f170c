import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmod,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { EnvironmentError } from '../../base/errors.ts'
import { homeError, type Home } from './home.ts'

/** One process that has the server open: a file in `leases/`. */
interface Lease {
  file: string
  pid: number
  /** See `startOf`: guards against another process that got the same id. */
  startedAt: string
  machine: string
  touchedAtMs: number
}

const TOUCH_MS = 5_000
/** A lease of another machine, whose processes cannot be seen from here, is dead after this. */
const FOREIGN_MS = 20_000

/** Registers this process as a user of the server until `release`. Hold the lock. */
export async function takeLease(home: Home): Promise<{ release(): Promise<void> }> {
  const name = `${process.pid}-${randomBytes(4).toString('hex')}`
  const file = join(home.leasesDirectory, `${name}.json`)
  const facts = {
    pid: process.pid,
    startedAt: (await startOf(process.pid)) ?? '',
    machine: await thisMachine(),
  }
  const unfinished = join(home.leasesDirectory, `${name}.new`)
  try {
    await writeFile(unfinished, JSON.stringify(facts))
    // Whatever the umask: a lease of root that a user cannot read would count as dead.
    await chmod(unfinished, 0o644)
    await rename(unfinished, file)
  } catch (error) {
    throw homeError(home.directory, error)
  }
  const timer = setInterval(() => {
    const now = new Date()
    // A lease that someone deleted is theirs to answer for; there is nothing to be done here.
    utimes(file, now, now).catch(() => {})
  }, TOUCH_MS)
  timer.unref()
  return {
    release: () => {
      clearInterval(timer)
      return rm(file, { force: true })
    },
  }
}

/** The leases of processes that live; files of others are deleted. Hold the lock. */
export async function deadLeasesDropped(home: Home): Promise<Lease[]> {
  const machine = await thisMachine()
  const live: Lease[] = []
  for (const name of await readdir(home.leasesDirectory)) {
    const file = join(home.leasesDirectory, name)
    const lease = await readLease(file)
    if (lease !== null && (await isLive(lease, machine))) live.push(lease)
    else await rm(file, { force: true })
  }
  return live
}

/**
 * Two machines (or containers) on one data directory would each start a server and destroy it.
 * Waits until leases of other machines have gone stale; throws `EnvironmentError` when one is
 * renewed meanwhile. Hold the lock.
 */
export async function waitForOtherMachines(
  home: Home,
  log: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const machine = await thisMachine()
  const firstSeen = new Map<string, number>()
  for (;;) {
    const foreign = (await deadLeasesDropped(home)).filter((lease) => lease.machine !== machine)
    if (foreign.length === 0) return
    for (const { file, machine: other, touchedAtMs } of foreign) {
      const seen = firstSeen.get(file)
      if (seen === undefined) {
        log(`${home.directory} was in use on ${other} a moment ago: waiting until it is not`)
        firstSeen.set(file, touchedAtMs)
      } else if (seen !== touchedAtMs)
        throw new EnvironmentError(
          `COLLAB_SYNC_HOME (${home.directory}) is in use on another machine or container (${other}). The embedded PostgreSQL serves one machine: set COLLAB_SYNC_HOME to another directory, or DATABASE_URL to a PostgreSQL that both can reach.`,
        )
    }
    await sleep(500, undefined, signal && { signal })
  }
}

async function isLive(lease: Lease, machine: string): Promise<boolean> {
  if (lease.machine !== machine) return Date.now() - lease.touchedAtMs < FOREIGN_MS
  return (await startOf(lease.pid)) === lease.startedAt
}

async function readLease(file: string): Promise<Lease | null> {
  try {
    const { pid, startedAt, machine } = JSON.parse(await readFile(file, 'utf8')) as Lease
    return { file, pid, startedAt, machine, touchedAtMs: (await stat(file)).mtimeMs }
  } catch {
    // Half written by a process that was killed, or gone since it was listed: no one's lease.
    return null
  }
}

const run = promisify(execFile)

/**
 * Where process ids mean the same as here: host name and, on Linux, the process id namespace, so
 * that two containers on one volume are kept apart.
 */
async function thisMachine(): Promise<string> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return `${hostname()} ${namespace}`.trim()
}

/**
 * When a process began, in the system's own notation, which together with the id names it for
 * good; null when there is no such process, '' where the system does not tell.
 */
export async function startOf(pid: number): Promise<string | null> {
  if (!isAlive(pid)) return null
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
    if (stat === null) return null
    // The name in parentheses may hold spaces: fields are counted from its end. The first is the
    // state (Z: killed, only not yet collected), the twentieth the start in clock ticks since boot.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? '')
  }
  if (process.platform === 'win32') return ''
  return run('ps', ['-o', 'lstart=', '-p', String(pid)]).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  )
}

/** Whether this process is the PostgreSQL server of that data directory, not one that got its id. */
export async function isPostmasterOf(dataDirectory: string, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform === 'win32') return true
  if (process.platform === 'linux') {
    // The command line, because root in a container may not read the working directory of others.
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    const words = commandLine.split('\0')
    return words[1] === '-D' && words[2] === dataDirectory
  }
  return run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => stdout.includes(`-D ${dataDirectory} `),
    () => false,
  )
}

/** Whether any process has this id, a killed one that nobody collected included. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
