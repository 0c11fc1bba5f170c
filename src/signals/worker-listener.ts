import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'
import { EnvironmentError } from '../errors.ts'

/** A worker's own /metrics, while it is open. */
export interface MetricsListener {
  readonly url: string
  close(): Promise<void>
}

/**
 * Serves one registry over HTTP at /metrics, and nothing else.
 * @throws EnvironmentError where the port cannot be had
 */
export async function listenForMetrics(
  registry: Registry,
  { host, port }: { host: string; port: number },
): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    const isAsked = request.url?.split('?')[0] === '/metrics'
    if (!isAsked || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(isAsked ? 405 : 404).end()
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new EnvironmentError(
      `METRICS_PORT ${port} on ${host} cannot be listened on (${code}): each worker of a machine needs a port of its own.`,
      { cause: error },
    )
  }
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}/metrics`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
