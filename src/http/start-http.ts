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
import { requireOwnToken } from '../settings/settings.ts'
import type { Settings } from '../settings/table.ts'
import { createServer } from './server.ts'
import type { HttpParts } from './server.ts'

/** The HTTP side while it runs. */
export interface RunningHttp {
  /** Its address, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Takes no more requests; resolves when those in hand are answered, after five seconds at most. */
  stop(): Promise<void>
}

/** Requests in progress get this long to end when the server stops; the whole stop has a deadline in `src/cli/signals.ts`. */
const GRACE_MS = 5_000

/**
 * Serves the API, the pages and the probes.
 * @throws UsageError where it would be open to other machines without a token, or the port cannot be had
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
      `HTTP_HOST=${host} and HTTP_PORT=${port} cannot be listened on: ${LISTEN_FAULTS[(error as NodeJS.ErrnoException).code ?? ''] ?? (error as Error).message}.`,
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

/** @throws UsageError for a server that other machines could reach without a token, or with one that everybody knows */
export function checkReach(settings: Settings): void {
  const { httpHost, httpToken } = settings
  requireOwnToken(settings)
  if (httpToken === undefined && !isThisMachine(httpHost))
    throw new UsageError(
      `HTTP_TOKEN is not set, so HTTP_HOST must be an address of this machine alone. Example: HTTP_HOST=127.0.0.1, or HTTP_TOKEN=the-output-of-openssl-rand-hex-32`,
    )
}

const LISTEN_FAULTS: Record<string, string> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
}

/** A queue that may not be there yet. */
export interface LateQueue extends JobQueue {
  /** Gives it a moment to open; resolves in any case. */
  wait(): Promise<void>
}

const PAUSE_MS = 2_000
const WAIT_MS = 2_000

/**
 * A queue that need not be there yet: it is opened as soon as Redis or PostgreSQL is, and until then everything that
 * is asked of it fails with an EnvironmentError. Once open it comes back by itself.
 */
export function openQueueLate(place: QueuePlace, log: Log): LateQueue {
  const closing = new AbortController()
  let queue: JobQueue | null = null
  const opening = openWhenThere(place, log, closing.signal).then((opened) => (queue = opened))
  const opened = (): JobQueue => {
    if (queue === null) throw new EnvironmentError('The queue does not answer yet.')
    return queue
  }
  return {
    place,
    get bull() {
      return opened().bull
    },
    deliver: async (jobs) => opened().deliver(jobs),
    countPending: async () => opened().countPending(),
    async wait() {
      await inTime(opening, WAIT_MS).catch(() => {})
    },
    async close() {
      closing.abort()
      await (await opening)?.close()
    },
  }
}

/** @returns null where it is closed before it could be opened */
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
      if (reason !== said) log.warn({ reason }, 'the queue cannot be opened yet; trying again')
      said = reason
    }
    await sleep(PAUSE_MS, undefined, { signal: closing }).catch(() => {})
  }
  return null
}
