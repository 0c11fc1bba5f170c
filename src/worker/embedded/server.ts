import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { EnvironmentError } from '../../base/errors.ts'
import { serverEnvironment } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { acceptsConnections } from './databases.ts'
import { homeError, OWN_DATABASE } from './home.ts'
import { isPostmasterOf } from './leases.ts'
import { restrictDataDirectory } from './server-directory.ts'
import { boundLog, dropMisleadingPidFile, logSince, readPidFile, sizeOf } from './server-files.ts'

/** How long processes of a killed server may take to notice and go. */
const LEFTOVERS_MS = 60_000
const PORT_TRIES = 5
/** A start replays what a crash left over: minutes at most, with the default size of the WAL. */
const START_MS = 600_000
const POLL_MS = 20
const EXPLAIN_MS = 30_000

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

/** Stops the server if it runs. */
export async function stopServer(cluster: Cluster): Promise<void> {
  const { dataDirectory, binaries, account, serverDirectory, home } = cluster
  const running = await readPidFile(dataDirectory)
  if (running === null || !(await isPostmasterOf(dataDirectory, running.pid))) return
  await run(binaries.pgCtl, ['stop', '-D', dataDirectory, '-m', 'fast', '-w', '-t', '300'], {
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

/**
 * Starts the server and waits until it takes connections; says when it refused for a reason that
 * may pass. Throws `EnvironmentError` with what the server said for any other.
 */
async function startServer(
  cluster: Cluster,
  port: number,
): Promise<'ready' | 'port-taken' | 'data-in-use'> {
  const { logFile, directory } = cluster.home
  await restrictDataDirectory(cluster.dataDirectory, cluster.account?.uid ?? process.getuid?.())
  // A log that cannot be cut, on a full disk say, must not be what stops a start.
  await boundLog(logFile).catch(() => {})
  const logStart = await sizeOf(logFile)
  const failure = await failureOf(cluster, await launch(cluster, port))
  if (failure === null) return 'ready'
  const logged = await logSince(logFile, logStart)
  if (/could not (bind|create any TCP)/.test(logged)) return 'port-taken'
  if (/shared memory block .* still in use|lock file .* already exists/.test(logged))
    return 'data-in-use'
  if (logged.includes('No space left on device')) throw homeError(directory, { code: 'ENOSPC' })
  throw startError(cluster, `${failure}; ${(await explained(cluster, port)) || logged}`)
}

/**
 * What prevents the server from starting, with PostgreSQL's DETAIL and HINT. The log leaves these out, since they can hold
 * comments; the single-user mode makes the same checks, and executes no statement here. Empty where it finds nothing.
 */
async function explained(cluster: Cluster, port: number): Promise<string> {
  const { binaries, account, dataDirectory, serverDirectory } = cluster
  const settings = ['log_error_verbosity=default', 'log_line_prefix=', `port=${port}`].flatMap(
    (each) => ['-c', each],
  )
  const started = run(
    binaries.postgres,
    ['--single', '-D', dataDirectory, ...settings, 'postgres'],
    { ...account, cwd: serverDirectory, env: serverEnvironment(), timeout: EXPLAIN_MS },
  )
  started.child.stdin?.end()
  return started.then(
    () => '',
    ({ stderr }: { stderr?: string }) => stderr?.trim() ?? '',
  )
}

/** The error for a server that does not come up, with where to look and the way around it. */
function startError({ home, dataDirectory }: Cluster, reason: string): EnvironmentError {
  return new EnvironmentError(
    `The embedded PostgreSQL in ${dataDirectory} did not start: ${reason.replace(/\.$/, '')}. See ${home.logFile}, or ${OWN_DATABASE}.`,
  )
}

/** A server process that was begun. */
interface Launched {
  readonly pid: number | undefined
  /** How it ended; null while it runs. */
  failure(): string | null
}

async function launch(cluster: Cluster, port: number): Promise<Launched> {
  const { home, binaries, account, dataDirectory, serverDirectory } = cluster
  const log = await open(home.logFile, 'a', 0o600).catch((error: unknown) => {
    throw homeError(home.directory, error)
  })
  try {
    const settings = [
      'listen_addresses=127.0.0.1',
      // The path of a home may be longer than a socket's may be.
      'unix_socket_directories=',
      'logging_collector=off',
      'log_destination=stderr',
    ].flatMap((setting) => ['-c', setting])
    const server = spawn(
      binaries.postgres,
      ['-D', dataDirectory, '-p', String(port), ...settings],
      {
        ...account,
        cwd: serverDirectory,
        env: serverEnvironment(),
        // A session of its own: neither Ctrl-C nor the end of this process reaches the server.
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
        windowsHide: true,
      },
    )
    server.unref()
    // Listened for at once: a server that is refused its data may be gone before the log is closed.
    let failure: string | null = null
    server.once('error', (error) => (failure = error.message))
    server.once('exit', (code, signal) => (failure = `it ended with ${signal ?? `code ${code}`}`))
    return { pid: server.pid, failure: () => failure }
  } finally {
    await log.close()
  }
}

/** Null when it is ready for connections, else how it ended. */
async function failureOf(cluster: Cluster, server: Launched): Promise<string | null> {
  const giveUpAtMs = Date.now() + START_MS
  while (server.failure() === null) {
    const found = await readPidFile(cluster.dataDirectory)
    if (found?.pid === server.pid && found?.isReady) return null
    if (Date.now() > giveUpAtMs)
      throw startError(cluster, `it was not ready after ${START_MS / 60_000} minutes`)
    await sleep(POLL_MS)
  }
  return server.failure()
}
