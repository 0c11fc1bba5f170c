import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { OPERATION_NAMES, OPERATIONS } from '../base/operations.ts'
import type { Operation } from '../base/operations.ts'
import { errorBody, itemsOf, readRequest, successBody } from './operations.ts'
import type { StandInRequest } from './operations.ts'
import type { World } from './world.ts'

/** A running stand-in. Properties that are not readonly may be changed while it runs. */
export interface StandIn {
  /** The base address, without a slash at its end. */
  readonly url: string
  readonly world: World
  apiKey: string
  authToken: string
  /** Each response is delayed by this, plus up to `latencyJitterMs`. */
  latencyMs: number
  latencyJitterMs: number
  /** Breaks every connection and frees the port. */
  close(): Promise<void>
}

export interface StandInOptions extends Partial<Omit<StandIn, 'url' | 'close'>> {
  readonly world: World
  /** Default: `call => call.respond`. */
  readonly intercept?: Intercept
}

/**
 * Extension point for tests. It is called for each call, and returns the function that responds after the latency:
 * `call.response`, or one that writes to `call.response` instead.
 */
export type Intercept = (call: Call) => () => void

/** One HTTP request that the stand-in has read. */
export interface Call {
  /** Null if the path is not documented. */
  readonly operation: Operation | null
  /** Null if the call is refused. */
  readonly request: StandInRequest | null
  readonly body: string
  /** How the call violates docs/SERVICE.md; null if it does not. */
  readonly violation: string | null
  readonly response: ServerResponse
  /** JSON texts of the items of the success response; undefined if the call fails. */
  items(): string[] | undefined
  /** Sends the success response, or the refusal. */
  respond(): void
}

/**
 * Starts an HTTP server on 127.0.0.1 that serves the world as docs/SERVICE.md says. A call that violates
 * the document gets 400 (404 and 405 for path and method).
 * Guesses where it shows nothing: an unknown organization, document or annotation is 404
 * NOT_FOUND, wrong credentials are 401 UNAUTHENTICATED.
 */
export async function startStandIn({
  intercept = (call) => call.respond,
  ...options
}: StandInOptions): Promise<StandIn> {
  const server = createServer((message, response) => {
    const respond = (body: string) => {
      const call = readCall(standIn, message, response, body)
      const send = intercept(call)
      const waitMs = standIn.latencyMs + Math.random() * standIn.latencyJitterMs
      if (call.request === null || waitMs === 0) return send()
      const timer = setTimeout(send, waitMs)
      response.once('close', () => clearTimeout(timer))
    }
    // The client may close the connection before the end of its request.
    text(message).then(respond, () => {})
  })
  // Longer than any pause of a client, so that a kept connection is not closed under a call.
  server.keepAliveTimeout = 120_000
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const standIn: StandIn = {
    apiKey: 'demo-api-key',
    authToken: 'demo-auth-token',
    latencyMs: 0,
    latencyJitterMs: 0,
    ...options,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return standIn
}

/** Sends a whole JSON response. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(body)
}

function readCall(
  standIn: StandIn,
  message: IncomingMessage,
  response: ServerResponse,
  body: string,
): Call {
  const operation = OPERATION_NAMES.find((each) => OPERATIONS[each].path === message.url)
  const read = requestOrRefusal(standIn, message, operation, body)
  const [request, refused] = 'status' in read ? [null, read] : [read, null]
  const items = () => (request === null ? undefined : itemsOf(standIn.world, request))
  const respond = () => {
    const found = items()
    if (request !== null && found !== undefined)
      return sendJson(response, 200, successBody(request.operation, found))
    const { status, code } = refused ?? { status: 404, code: 'NOT_FOUND' }
    sendJson(response, status, errorBody(operation ?? 'users', code))
  }
  const violation = refused?.violation ?? null
  return { operation: operation ?? null, request, body, violation, response, items, respond }
}

function requestOrRefusal(
  { apiKey, authToken }: StandIn,
  { url, method, headers }: IncomingMessage,
  operation: Operation | undefined,
  body: string,
): StandInRequest | ReturnType<typeof refusal> {
  if (!operation) return refusal(404, 'NOT_FOUND', `the path ${url} is not documented`)
  if (method !== 'POST') return refusal(405, 'INVALID_ARGUMENT', 'the method is not POST')
  const key = headers['x-service-api-key']
  const token = headers['x-service-auth-token']
  if (key === undefined || token === undefined)
    return refusal(401, 'UNAUTHENTICATED', 'a required header is missing')
  if (key !== apiKey || token !== authToken) return refusal(401, 'UNAUTHENTICATED', null)
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    return refusal(400, 'INVALID_ARGUMENT', 'Content-Type is not application/json')
  const request = readRequest(operation, body)
  return typeof request === 'string' ? refusal(400, 'INVALID_ARGUMENT', request) : request
}

/** @param violation null if the call violates nothing */
function refusal(status: number, code: string, violation: string | null) {
  return { status, code, violation }
}
