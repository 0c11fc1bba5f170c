import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { EnvironmentError } from '../../base/errors.ts'
import { serverEnvironment } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { homeError, OWN_DATABASE } from './home.ts'
import { restrictDataDirectory } from './server-directory.ts'
import {
  boundLog,
  dropMisleadingPidFile,
  logSince,
  readPidFile,
  runningServer,
  sizeOf,
} from './server-files.ts'

/** How long processes of a killed server may take to notice and go. */
const LEFTOVERS_MS = 60_000
const PORT_TRIES = 5
/** A start replays what a crash left over: minutes at most, with the default size of the WAL. */
const START_MS = 600_000
const START_S = String(START_MS / 1000)
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
): Promise<{ port: number; isStarted: boolean }> {
  const giveUpAtMs = Date.now() + LEFTOVERS_MS
  let portTries = 0
  for (;;) {
    const running = await findReady(cluster)
    if (running !== null) return { port: running.port, isStarted: false }
    const crashed = await readPidFile(cluster.dataDirectory)
    if (crashed !== null) {
      log('PostgreSQL was not stopped properly: it repairs its data and starts')
      await dropMisleadingPidFile(cluster.dataDirectory, crashed)
    }
    // The port it had, if any: another command may still be connected to it by its URL.
    const port = portTries === 0 && crashed !== null ? crashed.port : await freePort()
    const outcome = await startServer(cluster, port)
    if (outcome === 'ready') return { port, isStarted: true }
    if (outcome === 'port-taken' && portTries < PORT_TRIES) portTries += 1
    else if (outcome === 'data-in-use' && Date.now() < giveUpAtMs) await sleep(200)
    else throw startError(cluster, outcome.replace('-', ' '))
  }
}

/** Stops the server, which is that process. */
export async function stopServer(cluster: Cluster, pid: number): Promise<void> {
  const { dataDirectory, binaries, account, serverDirectory, home } = cluster
  await run(binaries.pgCtl, ['stop', '-D', dataDirectory, '-m', 'fast', '-w', '-t', '300'], {
    ...account,
    cwd: serverDirectory,
    env: serverEnvironment(),
  }).catch(async (error: { stderr?: string }) => {
    // It may have gone by itself in between.
    if ((await runningServer(dataDirectory)) === null) return
    throw new EnvironmentError(
      `PostgreSQL (process ${pid}) does not stop: ${error.stderr?.trim()}; see ${home.logFile}.`,
      { cause: error },
    )
  })
}

/** The server that runs, once it is ready: a process that was killed may have just started it. */
async function findReady(cluster: Cluster): Promise<{ port: number } | null> {
  const giveUpAtMs = Date.now() + START_MS
  while (Date.now() < giveUpAtMs) {
    const running = await runningServer(cluster.dataDirectory)
    if (running === null || running.isReady) return running
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
  const failure = await launch(cluster, port)
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

/**
 * Runs `pg_ctl start`, which waits until the server is ready and leaves it in a session of its own: neither Ctrl-C nor the
 * end of this process reaches it. Null when it is ready, else how it ended.
 */
async function launch(cluster: Cluster, port: number): Promise<string | null> {
  const { home, binaries, account, dataDirectory, serverDirectory } = cluster
  const log = await open(home.logFile, 'a', 0o600).catch((error: unknown) => {
    throw homeError(home.directory, error)
  })
  const options = [
    // Here rather than for pg_ctl, which hands it to the shell as it is.
    `-D ${quoted(dataDirectory)} -p ${port}`,
    'listen_addresses=127.0.0.1',
    // The path of a home may be longer than a socket's may be.
    'unix_socket_directories=',
    'logging_collector=off',
    'log_destination=stderr',
  ].join(' -c ')
  try {
    const starter = spawn(binaries.pgCtl, ['start', '-s', '-w', '-t', START_S, '-o', options], {
      ...account,
      cwd: serverDirectory,
      env: { ...serverEnvironment(), PGDATA: dataDirectory },
      // The server inherits them; its account could not open the log.
      stdio: ['ignore', log.fd, log.fd],
      detached: true,
      windowsHide: true,
    })
    const [code, signal] = (await once(starter, 'exit')) as [number | null, string | null]
    return code === 0 ? null : `pg_ctl ended with ${signal ?? `code ${code}`}`
  } catch (error) {
    return (error as Error).message
  } finally {
    await log.close()
  }
}

/** A path as one word of a shell. */
function quoted(path: string): string {
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", `'\\''`)}'`
}
