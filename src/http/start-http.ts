import { isIPv6 } from 'node:net'
import type { AddressInfo } from 'node:net'
import { UsageError } from '../errors.ts'
import { requireOwnToken } from '../settings/settings.ts'
import type { Settings } from '../settings/table.ts'
import { isLoopback } from './door/origins.ts'
import { createServer } from './server.ts'
import type { HttpParts } from './server.ts'

/** The HTTP side while it runs. */
export interface RunningHttp {
  /** Its address, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Takes no more requests; resolves when those in hand are answered, after ten seconds at most. */
  stop(): Promise<void>
}

/** Requests in hand get this long to end when the server stops. */
const GRACE_MS = 10_000

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
  if (httpToken === undefined && !isLoopback(httpHost))
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
