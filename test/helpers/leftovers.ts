import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { readlinkSync, rmSync, statfsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type pg from 'pg'
import { until } from './until.ts'

/**
 * Whatever a test run makes carries the run's id, and the run shows that it lives: an advisory lock to PostgreSQL, the
 * name of a connection to Redis, its process to the machine. What carries the id of a run that shows nothing was left
 * by one that was killed. So runs may go on side by side, also of several clones and machines.
 */

/** First half of the advisory lock of a run; the second is its id. */
const LOCK_CLASS = 0x63735f74
const FOLDER = /^collab-sync-test-(\d+)-(.+)$/
/** A file system in memory, because a database is a thousand files (docs/decisions/2026-11-22-tests-by-cpu.md). */
const MEMORY = '/dev/shm'
/** A guess: what a run holds there was not measured. */
const ROOM_BYTES = 3e9
/** Nothing else is removed for what a file says. */
const ELSEWHERE = /^\/var\/lib\/collab-sync\/[0-9a-f]{12}-\w{6}$/
/** How long a process may take to end in order; a server that is killed leaves shared memory. */
const TERM_MS = 3_000

/** An id for databases, keys and locks: eight hexadecimal digits that are a positive int4. */
export function newRunId(): string {
  return randomInt(2 ** 31)
    .toString(16)
    .padStart(8, '0')
}

/** Shows to PostgreSQL that the run lives, for as long as the connection does. Before its first database. */
export async function ownDatabases(server: pg.Client, runId: string): Promise<void> {
  await server.query('select pg_advisory_lock($1, $2)', [LOCK_CLASS, Number.parseInt(runId, 16)])
}

/** Drops the databases of runs that no longer live, and of this one where its id is given; their names. */
export async function dropDatabases(server: pg.Client, own = ''): Promise<string[]> {
  // One at a time: of two that drop the same database, one fails.
  await server.query(`select pg_advisory_lock(hashtext('cs_test'))`)
  try {
    const { rows } = await server.query<{ datname: string }>(
      `select datname from pg_database where datname ~ '^cs_test_[0-9a-f]{8}_'
        and (substr(datname, 9, 8) = $2 or not exists (select from pg_locks
          where locktype = 'advisory' and granted and classid = $1::bigint::oid and objsubid = 2
            and objid = ('x' || substr(datname, 9, 8))::bit(32)::bigint::oid))
      order by 1`,
      [LOCK_CLASS, own],
    )
    for (const { datname } of rows)
      await server.query(`drop database if exists ${datname} with (force)`)
    return rows.map(({ datname }) => datname)
  } finally {
    await server.query(`select pg_advisory_unlock(hashtext('cs_test'))`)
  }
}

/** A connection that shows to Redis that the run lives. Before its first key. */
export async function ownKeys(url: string, runId: string): Promise<Redis> {
  const redis = new Redis(url, { connectionName: `cs-test-${runId}`, lazyConnect: true })
  redis.on('error', () => {})
  await redis.connect()
  return redis
}

/** Deletes the keys of runs that no longer live, and of this one where its id is given; how many. */
export async function deleteKeys(redis: Redis, own = ''): Promise<number> {
  const clients = String(await redis.call('client', 'list'))
  const live = new Set([...clients.matchAll(/ name=cs-test-([0-9a-f]{8}) /g)].map(([, id]) => id))
  let deleted = 0
  for await (const keys of redis.scanStream({ match: '*test-????????-*', count: 1000 })) {
    const orphans = (keys as string[]).filter((key) => {
      const id = /^(?:[^:]*:)?test-([0-9a-f]{8})-/.exec(key)?.[1]
      return id !== undefined && (id === own || !live.has(id))
    })
    if (orphans.length > 0) deleted += await redis.unlink(orphans)
  }
  return deleted
}

/** Where runs keep their folders, the best place first: in memory, where that has room and may hold programs. */
export function folderParents(): string[] {
  const places = [MEMORY, tmpdir()].filter((place) => existsSync(place))
  return hasRoom(MEMORY) ? places : places.reverse()
}

function hasRoom(place: string): boolean {
  if (!existsSync(place) || process.availableMemory() < ROOM_BYTES) return false
  const { bavail, bsize } = statfsSync(place)
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const mount = mounts.findLast((line) => line.split(' ')[1] === place)
  return bavail * bsize >= ROOM_BYTES && !/[ ,]noexec[ ,]/.test(mount ?? 'noexec')
}

/** Makes the folder of this process's run, for all of its temporary files; root's servers run as others, who pass. */
export async function makeFolder(parent: string): Promise<string> {
  const folder = join(parent, folderName(process.pid, (await startOf(process.pid)) ?? ''))
  mkdirSync(folder, { mode: 0o755 })
  return folder
}

/**
 * When a process began, in clock ticks since boot, which together with the id identifies it; null when there is no such
 * process, '' if the system does not show it.
 */
async function startOf(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') return hasProcess(pid) ? '' : null
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return null
  // The name in parentheses may hold spaces: fields are counted from its end. The first is the state (Z: killed, only
  // not yet collected), the twentieth the start.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? null : (fields[19] ?? '')
}

function hasProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The name contains the owner, so that no folder is ever without one. */
export function folderName(pid: number, startedAt: string): string {
  return `collab-sync-test-${pid}-${encodeURIComponent(startedAt)}`
}

/** Ends what runs in folders of runs that no longer live, and removes them; their paths. */
export async function removeFolders(parent: string): Promise<string[]> {
  const orphans: string[] = []
  for (const name of readdirSync(parent)) {
    const [, pid = '', startedAt = ''] = FOLDER.exec(name) ?? []
    if (pid === '' || (await startOf(Number(pid))) === decodeURIComponent(startedAt)) continue
    await removeFolder(join(parent, name))
    orphans.push(join(parent, name))
  }
  return orphans
}

/** Ends what still runs in a folder, and removes it with what homes of the embedded PostgreSQL in it keep elsewhere. */
export async function removeFolder(folder: string): Promise<void> {
  // Also before: a test that notices the end of its process removes the note.
  const places = keptElsewhere(folder)
  await endProcesses(folder)
  for (const place of new Set([...places, ...keptElsewhere(folder)])) {
    await endProcesses(place)
    rmSync(place, { recursive: true, force: true })
  }
  rmSync(folder, { recursive: true, force: true })
}

async function endProcesses(folder: string): Promise<void> {
  const startMs = Date.now()
  await until(`what runs in ${folder} has ended`, () => {
    const left = processesIn(folder)
    const isLate = Date.now() > startMs + TERM_MS
    for (const pid of left)
      for (const signal of isLate ? ['SIGKILL'] : ['SIGTERM', 'SIGCONT']) send(pid, signal)
    return left.length === 0
  })
}

/** Root's server keeps its data outside of a home that it cannot reach; the home holds a note of the place. */
export function keptElsewhere(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return keptElsewhere(path)
      if (entry.name !== 'server-directory') return []
      const place = readFileSync(path, 'utf8').trim()
      return ELSEWHERE.test(place) ? [place] : []
    })
  } catch {
    // It is removed meanwhile.
    return []
  }
}

/** Processes that stand in the folder or were started with a file in it; none where there is no /proc. */
function processesIn(folder: string): number[] {
  const within = (path: string) => path.startsWith(`${folder}/`)
  return listing('/proc').filter((pid) => {
    if (pid === process.pid) return false
    try {
      if (within(`${readlinkSync(`/proc/${pid}/cwd`)}/`)) return true
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').some(within)
    } catch {
      return false
    }
  })
}

function listing(directory: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync(directory).map(Number).filter(Number.isSafeInteger)
}

function send(pid: number, signal: string): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended meanwhile.
  }
}
