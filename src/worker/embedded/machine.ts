import { readFile, readlink, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { EnvironmentError } from '../../base/errors.ts'
import { homeError, type Home } from './home.ts'

const TOUCH_MS = 5_000
/** Age after which the mark of another machine is ignored. */
const FOREIGN_MS = 20_000

/**
 * Two machines or containers that use one data directory would each start a server and destroy the data.
 * Waits until the mark of another machine is stale. Requires the lock.
 * @throws EnvironmentError if that machine renews its mark
 */
export async function waitForOtherMachine(
  home: Home,
  log: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const here = await thisMachine()
  let firstMs: number | undefined
  for (;;) {
    const mark = await readMark(home)
    if (mark === null || mark.machine === here || Date.now() - mark.touchedAtMs >= FOREIGN_MS)
      return
    if (firstMs === undefined)
      log(
        `${home.directory} was used on ${mark.machine} a moment ago: waiting until that machine no longer uses it`,
      )
    else if (firstMs !== mark.touchedAtMs)
      throw new EnvironmentError(
        `COLLAB_SYNC_HOME (${home.directory}) is in use on another machine or container (${mark.machine}). The embedded PostgreSQL serves one machine: set COLLAB_SYNC_HOME to another directory, or DATABASE_URL to a PostgreSQL that both can reach.`,
      )
    firstMs ??= mark.touchedAtMs
    await sleep(500, undefined, signal && { signal })
  }
}

/**
 * Marks the home as used by this machine, and renews the mark until the returned function is called. Requires the lock.
 */
export async function keepMarked(home: Home): Promise<() => void> {
  const machine = await thisMachine()
  const mark = async () => {
    const unfinished = `${home.machineFile}-${process.pid}.new`
    await writeFile(unfinished, `${machine}\n`)
    // Not written in place: the file may belong to root.
    await rename(unfinished, home.machineFile)
  }
  await mark().catch((error: unknown) => {
    throw homeError(home.directory, error)
  })
  const timer = setInterval(() => {
    const now = new Date()
    // A sync continues if the mark cannot be renewed, for example on a full disk.
    utimes(home.machineFile, now, now)
      .catch(mark)
      .catch(() => {})
  }, TOUCH_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Requires the lock. */
export async function removeMark(home: Home): Promise<void> {
  await rm(home.machineFile, { force: true })
}

async function readMark(home: Home): Promise<{ machine: string; touchedAtMs: number } | null> {
  try {
    const machine = (await readFile(home.machineFile, 'utf8')).trim()
    return { machine, touchedAtMs: (await stat(home.machineFile)).mtimeMs }
  } catch {
    return null
  }
}

/** Host name and, on Linux, the process ID namespace, which distinguishes containers on one volume. */
async function thisMachine(): Promise<string> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return `${hostname()} ${namespace}`.trim()
}
