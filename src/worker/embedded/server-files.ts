import { execFile } from 'node:child_process'
import { copyFile, open, readFile, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** With the one before it, never more than about twice this on disk. */
const MOST_BYTES = 10 * 1024 * 1024
const CHECK_MS = 600_000
const TAIL_BYTES = 4096

/** Bounds the log now and then until the returned function is called; does not hold the process. */
export function keepLogBounded(file: string, mostBytes = MOST_BYTES): () => void {
  const timer = setInterval(() => {
    // A log that cannot be cut, on a full disk say, must not stop a sync.
    boundLog(file, mostBytes).catch(() => {})
  }, CHECK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/**
 * Moves the content of a log that is too long to `<file>.1`. The server keeps the file open in
 * append mode, so it is emptied in place and not renamed.
 */
export async function boundLog(file: string, mostBytes = MOST_BYTES): Promise<void> {
  if ((await sizeOf(file)) <= mostBytes) return
  await copyFile(file, `${file}.1`)
  await truncate(file)
}

/** Length of the log in bytes, 0 if there is none. */
export async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}

/** What was written since the log was that long; only its end when that is a lot. */
export async function logSince(file: string, fromByte: number): Promise<string> {
  const from = Math.max(fromByte, (await sizeOf(file)) - TAIL_BYTES)
  const handle = await open(file, 'r')
  try {
    const buffer = Buffer.alloc(TAIL_BYTES)
    const { bytesRead } = await handle.read(buffer, 0, TAIL_BYTES, from)
    return buffer.toString('utf8', 0, bytesRead).trim()
  } finally {
    await handle.close()
  }
}

/** What a server says about itself in `postmaster.pid` of its data directory. */
interface PidFile {
  pid: number
  port: number
  isReady: boolean
}

/** Null when there is none: no server, or one that was stopped properly. */
export async function readPidFile(dataDirectory: string): Promise<PidFile | null> {
  const text = await readFile(pathOf(dataDirectory), 'utf8').catch(() => null)
  if (text === null) return null
  // Lines: process id, data directory, start, port, socket directory, address, memory, state.
  const lines = text.split('\n')
  return {
    pid: Number(lines[0]),
    port: Number(lines[3]),
    isReady: lines[7]?.trim() === 'ready',
  }
}

/** What the running server says about itself; null when none runs, whatever its file says. */
export async function runningServer(dataDirectory: string): Promise<PidFile | null> {
  const found = await readPidFile(dataDirectory)
  return found !== null && (await isPostmasterOf(dataDirectory, found.pid)) ? found : null
}

/**
 * PostgreSQL handles a stale postmaster.pid itself, unless its process id is in use again, which
 * is the rule in a restarted container. Removed only then: the file also leads PostgreSQL to
 * surviving processes of a killed server, which it finds by the directory's inode as well.
 */
export async function dropMisleadingPidFile(dataDirectory: string, found: PidFile): Promise<void> {
  if (!isAlive(found.pid) || (await isPostmasterOf(dataDirectory, found.pid))) return
  await rm(pathOf(dataDirectory), { force: true })
}

function pathOf(dataDirectory: string): string {
  return join(dataDirectory, 'postmaster.pid')
}

const run = promisify(execFile)

/** Whether this process is the PostgreSQL server of that data directory, not one that got its id. */
async function isPostmasterOf(dataDirectory: string, pid: number): Promise<boolean> {
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
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
