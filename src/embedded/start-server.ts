import { spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { EnvironmentError } from '../errors.ts'
import { serverEnvironment } from './binaries.ts'
import { homeError } from './home.ts'
import { readPidFile } from './pid-file.ts'
import { boundLog, logSince, sizeOf } from './server-log.ts'
import type { Cluster } from './cluster-parts.ts'

/** A start replays what a crash left over: minutes at most, with the default size of the WAL. */
export const START_MS = 600_000
export const POLL_MS = 20

/**
 * Starts the server and waits until it takes connections; says when it refused for a reason that
 * may pass. Throws `EnvironmentError` with what the server said for any other.
 */
export async function startServer(
  cluster: Cluster,
  port: number,
): Promise<'ready' | 'port-taken' | 'data-in-use'> {
  const { logFile, directory } = cluster.home
  // A log that cannot be cut, on a full disk say, must not be what stops a start.
  await boundLog(logFile).catch(() => {})
  const logStart = await sizeOf(logFile)
  const failure = await failureOf(cluster, await launch(cluster, port))
  if (failure === null) return 'ready'
  const told = await logSince(logFile, logStart)
  if (/could not (bind|create any TCP)/.test(told)) return 'port-taken'
  if (/shared memory block .* still in use|lock file .* already exists/.test(told))
    return 'data-in-use'
  if (told.includes('No space left on device')) throw homeError(directory, { code: 'ENOSPC' })
  throw startError(cluster, `${failure}; ${told}`)
}

/** The error for a server that does not come up, with where to look and the way around it. */
export function startError({ home, dataDirectory }: Cluster, reason: string): EnvironmentError {
  return new EnvironmentError(
    `The embedded PostgreSQL in ${dataDirectory} did not start: ${reason}. See ${home.logFile}, or set DATABASE_URL to use a PostgreSQL of your own.`,
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
    if (Date.now() > giveUpAtMs) return `it was not ready after ${START_MS / 60_000} minutes`
    await sleep(POLL_MS)
  }
  return server.failure()
}
