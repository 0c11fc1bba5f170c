import { rm } from 'node:fs/promises'
import type { Cluster } from './cluster-parts.ts'

/**
 * Deletes what was put into the home and the server's directory, and nothing else: a home may be
 * a directory that holds files of the user's too.
 */
export async function removeEverything({ home, serverDirectory }: Cluster): Promise<void> {
  for (const path of [
    serverDirectory,
    home.noteFile,
    home.passwordFile,
    home.logFile,
    `${home.logFile}.1`,
    home.leasesDirectory,
  ])
    await rm(path, { recursive: true, force: true })
}
