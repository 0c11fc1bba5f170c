import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive, isPostmasterOf } from './process-identity.ts'

/** What a server says about itself in `postmaster.pid` of its data directory. */
export interface PidFile {
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
