import { execFile } from 'node:child_process'
import { copyFile, open, readFile, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Maximum size of the log; the previous one is kept as well. */
const MOST_BYTES = 10 * 1024 * 1024
const CHECK_MS = 600_000
const TAIL_BYTES = 4096

/** Bounds the log at intervals until the returned function is called. The timer does not keep the process alive. */
export function keepLogBounded(file: string): () => void {
  const timer = setInterval(() => {
    // A sync continues if the log cannot be truncated, for example on a full disk.
    boundLog(file).catch(() => {})
  }, CHECK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/**
 * Copies a log that is too long to `<file>.1` and truncates it. It is not renamed, because the server has it open in append
 * mode.
 */
export async function boundLog(file: string, mostBytes = MOST_BYTES): Promise<void> {
  if ((await sizeOf(file)) <= mostBytes) return
  await copyFile(file, `${file}.1`)
  await truncate(file)
}

/** Length of the log in bytes; 0 if it does not exist. */
export async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}

/** The text after a byte of the log, at most its last 4 kB. */
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

type PidFile = NonNullable<Awaited<ReturnType<typeof readPidFile>>>

/**
 * The contents of `postmaster.pid` in the data directory. Null if the file does not exist: there is no server, or it was
 * stopped properly.
 */
export async function readPidFile(dataDirectory: string) {
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

/** The `postmaster.pid` of a running server; null if none is running, even if the file exists. */
export async function runningServer(dataDirectory: string): Promise<PidFile | null> {
  const found = await readPidFile(dataDirectory)
  return found !== null && (await isPostmasterOf(dataDirectory, found.pid)) ? found : null
}

/**
 * Removes a stale postmaster.pid if another process has its process ID, as is usual in a restarted container. PostgreSQL
 * handles other stale files itself, and uses them to find surviving processes of a killed server.
 */
export async function dropMisleadingPidFile(dataDirectory: string, found: PidFile): Promise<void> {
  if (!isAlive(found.pid) || (await isPostmasterOf(dataDirectory, found.pid))) return
  await rm(pathOf(dataDirectory), { force: true })
}

function pathOf(dataDirectory: string): string {
  return join(dataDirectory, 'postmaster.pid')
}

const run = promisify(execFile)

/** Whether a process is the PostgreSQL server of a data directory, and not another one with the same ID. */
async function isPostmasterOf(dataDirectory: string, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform === 'win32') return true
  if (process.platform === 'linux') {
    // The command line, because root in a container cannot read the working directory of other processes.
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    const words = commandLine.split('\0')
    return words[1] === '-D' && words[2] === dataDirectory
  }
  return run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => stdout.includes(`-D ${dataDirectory} `),
    () => false,
  )
}

/** Whether any process has this ID, including a killed one that its parent has not collected. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
