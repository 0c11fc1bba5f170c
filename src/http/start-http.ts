import { isIPv6 } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { EnvironmentError, UsageError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { isThisMachine } from '../base/this-machine.ts'
import { migrateQueue } from '../core/queue/backend.ts'
import type { QueuePlace } from '../core/queue/backend.ts'
import { inTime, openQueue } from '../core/queue/queue.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import type { Settings } from '../settings/table.ts'
import { createServer } from './server.ts'
import type { HttpParts } from './server.ts'

export interface RunningHttp {
  /** Its address, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Stops accepting requests, and waits up to five seconds for those in progress. */
  stop(): Promise<void>
}

/** Time limit of requests in progress when the server stops. The whole stop has a deadline in `src/cli/signals.ts`. */
const GRACE_MS = 5_000

/**
 * Serves the API, the pages and the probes.
 * @throws UsageError if other machines could reach it without a token, or the port is not available
 */
export async function startHttp(parts: HttpParts): Promise<RunningHttp> {
  const { httpHost: host, httpPort: port } = parts.settings
  checkReach(parts.settings)
  const { app } = await createServer(parts)
  try {
    await app.listen({ host, port })
  } catch (error) {
    await app.close()
    throw new UsageError(
      `HTTP_HOST=${host} and HTTP_PORT=${port} are not available: ${LISTEN_FAULTS[(error as NodeJS.ErrnoException).code ?? ''] ?? (error as Error).message}.`,
      { cause: error },
    )
  }
  const { port: taken } = app.server.address() as AddressInfo
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${taken}`,
    async stop() {
      const patience = setTimeout(() => app.server.closeAllConnections(), GRACE_MS)
      await app.close()
      clearTimeout(patience)
    },
  }
}

/** @throws UsageError if other machines could reach the server without a token */
export function checkReach({ httpHost, httpToken }: Settings): void {
  if (httpToken === undefined && !isThisMachine(httpHost))
    throw new UsageError(
      `HTTP_TOKEN is not set, so HTTP_HOST must be an address that only this machine can reach. Example: HTTP_HOST=127.0.0.1. Create a token with: openssl rand -hex 32`,
    )
}

const LISTEN_FAULTS: Record<string, string> = {
  EADDRINUSE: 'another program uses the port',
  EACCES: 'the user has no permission',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
}

const PAUSE_MS = 2_000
const WAIT_MS = 2_000

/**
 * A queue that opens as soon as Redis or PostgreSQL is available. Until then its functions throw an EnvironmentError. Once
 * open, it reconnects by itself.
 */
export function openQueueLate(place: QueuePlace, log: Log): JobQueue & { wait(): Promise<void> } {
  const closing = new AbortController()
  let queue: JobQueue | null = null
  const opening = openWhenThere(place, log, closing.signal).then((opened) => (queue = opened))
  const opened = (): JobQueue => {
    if (queue === null) throw new EnvironmentError('The queue is not open yet.')
    return queue
  }
  return {
    place,
    get bull() {
      return opened().bull
    },
    deliver: async (jobs) => opened().deliver(jobs),
    countPending: async () => opened().countPending(),
    /** Waits up to two seconds for it to open. Never rejects. */
    async wait() {
      await inTime(opening, WAIT_MS).catch(() => {})
    },
    async close() {
      closing.abort()
      await (await opening)?.close()
    },
  }
}

/** @returns null if it is closed before it opens */
async function openWhenThere(
  place: QueuePlace,
  log: Log,
  closing: AbortSignal,
): Promise<JobQueue | null> {
  let said = ''
  while (!closing.aborted) {
    try {
      await migrateQueue(place, closing)
      return await openQueue(place, log)
    } catch (error) {
      const reason = (error as Error).message
      if (reason !== said) log.warn({ reason }, 'the queue cannot be opened; trying again')
      said = reason
    }
    await sleep(PAUSE_MS, undefined, { signal: closing }).catch(() => {})
  }
  return null
}
