import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { EnvironmentError } from '../../base/errors.ts'
import { runAs, serverEnvironment } from './binaries.ts'
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

/** How long processes of a killed server may take to end. */
const LEFTOVERS_MS = 60_000
const PORT_TRIES = 5
/** Recovery after a crash takes minutes at most, with the default size of the WAL. */
const START_MS = 600_000
const START_S = String(START_MS / 1000)
const POLL_MS = 20
const EXPLAIN_MS = 30_000

/**
 * The port of the running server, which is started if necessary. Requires the lock. PostgreSQL's own interlock
 * (postmaster.pid and shared memory) decides whether a server may use the data. A start that it refuses is tried again, not
 * forced.
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
      log('PostgreSQL was not stopped properly: it recovers its data and starts')
      await dropMisleadingPidFile(cluster.dataDirectory, crashed)
    }
    // The previous port, because another process may still use its URL.
    const port = portTries === 0 && crashed !== null ? crashed.port : await freePort()
    const outcome = await startServer(cluster, port)
    if (outcome === 'ready') return { port, isStarted: true }
    if (outcome === 'port-taken' && portTries < PORT_TRIES) portTries += 1
    else if (outcome === 'data-in-use' && Date.now() < giveUpAtMs) await sleep(200)
    else throw startError(cluster, outcome.replace('-', ' '))
  }
}

/** Stops the server, which has this process ID. */
export async function stopServer(cluster: Cluster, pid: number): Promise<void> {
  const { dataDirectory, binaries, account, home } = cluster
  const stop = ['stop', '-D', dataDirectory, '-m', 'fast', '-w', '-t', '300']
  await runAs(account, binaries.pgCtl, stop).catch(async (error: { stderr?: string }) => {
    // It may have stopped in between.
    if ((await runningServer(dataDirectory)) === null) return
    throw new EnvironmentError(
      `PostgreSQL (process ${pid}) does not stop: ${error.stderr?.trim()}; see ${home.logFile}.`,
      { cause: error },
    )
  })
}

/** The running server, as soon as it is ready: a killed process may have just started it. */
async function findReady(cluster: Cluster): Promise<{ port: number } | null> {
  const giveUpAtMs = Date.now() + START_MS
  while (Date.now() < giveUpAtMs) {
    const running = await runningServer(cluster.dataDirectory)
    if (running === null || running.isReady) return running
    await sleep(POLL_MS)
  }
  throw startError(cluster, 'it runs but does not accept connections')
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
 * Starts the server and waits until it accepts connections. Returns reasons that may pass.
 * @throws EnvironmentError with the server's message for any other reason
 */
async function startServer(
  cluster: Cluster,
  port: number,
): Promise<'ready' | 'port-taken' | 'data-in-use'> {
  const { logFile, directory } = cluster.home
  await restrictDataDirectory(cluster.dataDirectory, cluster.account?.uid ?? process.getuid?.())
  // The server starts even if the log cannot be truncated, for example on a full disk.
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
 * PostgreSQL's message with DETAIL and HINT, or an empty text. The log omits these, because they can contain comments. The
 * single-user mode makes the same checks; it executes no statement here.
 */
async function explained(cluster: Cluster, port: number): Promise<string> {
  const { binaries, account, dataDirectory } = cluster
  const settings = ['log_error_verbosity=default', 'log_line_prefix=', `port=${port}`].flatMap(
    (each) => ['-c', each],
  )
  const single = ['--single', '-D', dataDirectory, ...settings, 'postgres']
  const started = runAs(account, binaries.postgres, single, { timeout: EXPLAIN_MS })
  started.child.stdin?.end()
  return started.then(
    () => '',
    ({ stderr }: { stderr?: string }) => stderr?.trim() ?? '',
  )
}

function startError({ home, dataDirectory }: Cluster, reason: string): EnvironmentError {
  return new EnvironmentError(
    `The embedded PostgreSQL in ${dataDirectory} did not start: ${reason.replace(/\.$/, '')}. See ${home.logFile}, or ${OWN_DATABASE}.`,
  )
}

/**
 * Runs `pg_ctl start`, which waits until the server is ready. The server has its own session: neither Ctrl-C nor the end of
 * this process stops it. @returns null if the server is ready, else how pg_ctl ended
 */
async function launch(cluster: Cluster, port: number): Promise<string | null> {
  const { home, binaries, account, dataDirectory, serverDirectory } = cluster
  const log = await open(home.logFile, 'a', 0o600).catch((error: unknown) => {
    throw homeError(home.directory, error)
  })
  const options = [
    // Not as an argument of pg_ctl, which does not quote it for the shell.
    `-D ${quoted(dataDirectory)} -p ${port}`,
    'listen_addresses=127.0.0.1',
    // The path of a home may be too long for a socket.
    'unix_socket_directories=',
    'logging_collector=off',
    'log_destination=stderr',
  ].join(' -c ')
  try {
    const starter = spawn(binaries.pgCtl, ['start', '-s', '-w', '-t', START_S, '-o', options], {
      ...account,
      cwd: serverDirectory,
      env: { ...serverEnvironment(), PGDATA: dataDirectory },
      // The server inherits them, because its account cannot open the log.
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

/** A path as one word for a shell. */
function quoted(path: string): string {
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", `'\\''`)}'`
}
