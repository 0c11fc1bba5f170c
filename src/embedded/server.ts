import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { EnvironmentError } from '../errors.ts'
import { serverEnvironment } from './binaries.ts'
import { acceptsConnections } from './databases.ts'
import type { Cluster } from './cluster-parts.ts'
import { dropMisleadingPidFile, readPidFile } from './pid-file.ts'
import { isPostmasterOf } from './process-identity.ts'
import { POLL_MS, START_MS, startError, startServer } from './start-server.ts'

/** How long processes of a killed server may take to notice and go. */
const LEFTOVERS_MS = 60_000
const PORT_TRIES = 5

const run = promisify(execFile)

/**
 * The port of the running server, which is started if it does not run. Hold the lock.
 * PostgreSQL's own interlock (postmaster.pid and shared memory) stays the last word on whether a
 * second server may touch the data, so a start that it refuses is looked at again, not forced.
 */
export async function joinOrStart(
  cluster: Cluster,
  log: (line: string) => void,
): Promise<{ port: number }> {
  const giveUpAtMs = Date.now() + LEFTOVERS_MS
  let portTries = 0
  for (;;) {
    const running = await findRunning(cluster)
    if (running !== null) return running
    const crashed = await readPidFile(cluster.dataDirectory)
    if (crashed !== null) {
      log('PostgreSQL was not stopped properly: it repairs its data and starts')
      await dropMisleadingPidFile(cluster.dataDirectory, crashed)
    }
    // The port it had, if any: another command may still be connected to it by its URL.
    const port = portTries === 0 && crashed !== null ? crashed.port : await freePort()
    const outcome = await startServer(cluster, port)
    if (outcome === 'ready') return { port }
    if (outcome === 'port-taken' && portTries < PORT_TRIES) portTries += 1
    else if (outcome === 'data-in-use' && Date.now() < giveUpAtMs) await sleep(200)
    else throw startError(cluster, outcome.replace('-', ' '))
  }
}

/** Stops the server if it runs: `fast` keeps all data, `immediate` is for data to be thrown away. */
export async function stopServer(cluster: Cluster, mode: 'fast' | 'immediate'): Promise<void> {
  const { dataDirectory, binaries, account, serverDirectory, home } = cluster
  const running = await readPidFile(dataDirectory)
  if (running === null || !(await isPostmasterOf(dataDirectory, running.pid))) return
  await run(binaries.pgCtl, ['stop', '-D', dataDirectory, '-m', mode, '-w', '-t', '300'], {
    ...account,
    cwd: serverDirectory,
    env: serverEnvironment(),
  }).catch(async (error: { stderr?: string }) => {
    // It may have gone by itself in between.
    if (!(await isPostmasterOf(dataDirectory, running.pid))) return
    throw new EnvironmentError(
      `PostgreSQL (process ${running.pid}) does not stop: ${error.stderr?.trim()}; see ${home.logFile}.`,
      { cause: error },
    )
  })
}

async function findRunning(cluster: Cluster): Promise<{ port: number } | null> {
  const giveUpAtMs = Date.now() + START_MS
  while (Date.now() < giveUpAtMs) {
    const found = await readPidFile(cluster.dataDirectory)
    // Looked at before anything is sent to the port, which may be a stranger's by now.
    if (found === null || !(await isPostmasterOf(cluster.dataDirectory, found.pid))) return null
    if (found.port > 0 && (await acceptsConnections(cluster, found.port)))
      return { port: found.port }
    await sleep(POLL_MS)
  }
  throw startError(cluster, 'it runs but does not take connections')
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
