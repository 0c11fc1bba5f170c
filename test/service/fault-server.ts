import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLog } from '../../src/base/log.ts'
import { RateLimiter } from '../../src/core/rate-limit/limiter.ts'
import type { RateLimitStore } from '../../src/core/rate-limit/limiter.ts'
import { openCollabApi } from '../../src/core/service/client.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { latch } from '../helpers/latch.ts'
import type {
  CallReport,
  CallStats,
  CollabApi,
  CollabApiOptions,
} from '../../src/core/service/client.ts'

export interface Seen {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Fault = (response: ServerResponse, request: IncomingMessage) => void

export interface FaultServer {
  readonly url: string
  readonly seen: Seen[]
  /** What the next calls get, one each; when it is empty, `usually` answers. */
  readonly script: Fault[]
  usually: Fault
  /** Done at the latest when the test or its file ends. */
  close(): Promise<void>
}

/** A real HTTP server that fails as its script says. */
export function openFaultServer(...script: Fault[]): Promise<FaultServer> {
  return openFaultServerAt(0, ...script)
}

/** The same on a port that another one had. */
export async function openFaultServerAt(port: number, ...script: Fault[]): Promise<FaultServer> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      seen.push({ path: request.url ?? '', headers: request.headers, body })
      const fault = script.shift() ?? opened.usually
      fault(response, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const opened: FaultServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    script,
    usually: success([]),
    close: closedAtEnd(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }),
  }
  return opened
}

export function success(data: unknown[], more: object = {}): Fault {
  return json(200, { result: { status: 'success', message: 'ok', data, ...more } })
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Fault {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }
}

export function bytes(status: number, body: Buffer | string = ''): Fault {
  return (response) => {
    response.writeHead(status)
    response.end(body)
  }
}

/** Promises a longer body than it sends, then drops the connection. */
export const cutBody: Fault = (response) => {
  response.writeHead(200, { 'content-length': '1000' })
  response.write('{"result":', () => response.destroy())
}

export const reset: Fault = (_response, request) => {
  request.socket.resetAndDestroy()
}

export const neverAnswers: Fault = () => {}

/** Answers when the test says so. */
export interface Held {
  readonly fault: Fault
  letGo(): void
}

export function held(fault: Fault): Held {
  const { opened, open } = latch()
  return { fault: (...call) => void opened.then(() => fault(...call)), letGo: open }
}

/** No limit, and pauses of one process. */
export function openPauses(): RateLimiter {
  const store: RateLimitStore = {
    server: 'Redis',
    take: () => Promise.reject(new Error('there is no limit')),
    pause: async () => {},
    pauseMs: async () => 0,
  }
  return new RateLimiter(store, { callsPerSecond: null, log: createLog('silent') })
}

/** A client for the server at `url`, with short limits, until the test or its file ends. */
export function openClient(url: string, options: Partial<CollabApiOptions> = {}): CollabApi {
  const sharedRateLimit = options.sharedRateLimit ?? openPauses()
  const api = openCollabApi({
    collabApiUrl: url,
    apiKey: 'key-4711',
    authToken: 'token-0815',
    apiKeyHeader: 'x-service-api-key',
    authTokenHeader: 'x-service-auth-token',
    timeoutMs: 60_000,
    retries: 2,
    retryAfterMaxMs: 50,
    throttledMaxMs: 60_000,
    maxBodyBytes: 1_000_000,
    concurrency: 8,
    ...options,
    sharedRateLimit,
  })
  closedAtEnd(async () => {
    // A test may have closed it.
    await api.close().catch(() => {})
    await sharedRateLimit.close()
  })
  return api
}

export function noStats(): CallStats {
  return { calls: 0, retries: 0, waitedMs: 0, waitedThrottledMs: 0, serviceMs: 0 }
}

/** A server and a client of a test, with the calls that the client reports and the pauses of all processes, in milliseconds. */
export async function startClient(script: Fault[], options: Partial<CollabApiOptions> = {}) {
  const server = await openFaultServer(...script)
  const [reports, pauses]: [CallReport[], number[]] = [[], []]
  const limit = openPauses()
  const sharedRateLimit = {
    acquire: (signal?: AbortSignal) => limit.acquire(signal),
    resumed: (signal?: AbortSignal) => limit.resumed(signal),
    now: () => limit.now(),
    snapshot: () => limit.snapshot(),
    close: () => limit.close(),
    pauseAll(ms: number) {
      pauses.push(ms)
      return limit.pauseAll(ms)
    },
  }
  const onCall = (report: CallReport) => void reports.push(report)
  const api = openClient(server.url, { sharedRateLimit, onCall, ...options })
  return { server, api, reports, pauses }
}
