import { packagedDirectory } from './binaries.ts'
import { createClusterIfMissing, openCluster } from './cluster.ts'
import type { Cluster } from './cluster.ts'
import { openHome } from './home.ts'
import { countLeases, takeLease } from './lease.ts'
import { withLock } from './lock.ts'
import { keepMarked, removeMark, waitForOtherMachine } from './machine.ts'
import { keepLogBounded, runningServer } from './server-files.ts'
import { joinOrStart, stopServer } from './server.ts'

/** A PostgreSQL that runs while any process has it open. */
export type EmbeddedPostgres = Awaited<ReturnType<typeof openEmbeddedPostgres>>

/**
 * Opens the PostgreSQL in `home`: creates it, starts it, or uses the one that another process has open. It listens on
 * 127.0.0.1 only, requires a password, and keeps running if the process that started it is killed.
 * @param options.log is called with a line for the user if something takes time or a file is put outside of `home`
 * @param options.signal when it aborts, the promise rejects and no server is left running. A cluster that was just created is
 *   opened nevertheless, so that its tables can be created.
 * @throws UsageError if the server is not installed, or `home` is not writable or belongs to another user; EnvironmentError if
 *   the server cannot run on this machine or its data is of another major version
 */
export async function openEmbeddedPostgres({
  home: homePath,
  log = () => {},
  signal,
}: {
  home: string
  log?: (line: string) => void
  signal?: AbortSignal | undefined
}) {
  // Checked first, because without a package no home can be used.
  packagedDirectory(process.platform, process.arch)
  const home = await openHome(homePath)
  return withLock(home, async () => {
    await waitForOtherMachine(home, log, signal)
    const cluster = await openCluster(home, log)
    signal?.throwIfAborted()
    const created = await createClusterIfMissing(cluster, log, signal)
    const { port, isStarted } = await joinOrStart(cluster, log)
    // These override PGSSLMODE, PGSSLNEGOTIATION and PGOPTIONS.
    const own = 'sslmode=disable&sslnegotiation=postgres&options=-c%20client_encoding%3DUTF8'
    /** `postgres://` URL, password included, of a database of this server. */
    const urlOf = (database: string) =>
      `postgres://collab_sync:${cluster.password}@127.0.0.1:${port}/${encodeURIComponent(database)}?${own}`
    try {
      if (!created) signal?.throwIfAborted()
      return { url: urlOf('collab_sync'), urlOf, created, close: await closer(cluster, port) }
    } catch (error) {
      await stopIfUnused(cluster, isStarted)
      throw error
    }
  })
}

/** @returns releases the server. The last process to do so stops it. Safe to call twice */
async function closer(cluster: Cluster, port: number): Promise<() => Promise<void>> {
  const release = await takeLease(cluster, port, ['collab_sync', 'collab_sync_queue'])
  const stopMarking = await keepMarked(cluster.home)
  const stopBounding = keepLogBounded(cluster.home.logFile)
  let closed: Promise<void> | undefined
  const giveUp = async () => {
    stopMarking()
    stopBounding()
    await withLock(cluster.home, async () => {
      await release()
      await stopIfUnused(cluster)
    })
  }
  return () => (closed ??= giveUp())
}

/**
 * Stops the server unless other processes have it open. If leases cannot be counted, because the password is wrong or no
 * connection is left, only the call that started the server stops it.
 */
async function stopIfUnused(cluster: Cluster, isStarted = false): Promise<void> {
  const running = await runningServer(cluster.dataDirectory)
  const leases = running === null ? 0 : await countLeases(cluster, running.port)
  if (leases !== 0 && !(leases === null && isStarted)) return
  if (running !== null) await stopServer(cluster, running.pid)
  await removeMark(cluster.home)
}
