import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Operation } from '../base/errors.ts'
import { Answers, errorBody, successBody } from './answers.ts'
import { Random } from './random.ts'
import { PATHS, readRequest } from './requests.ts'
import type { StandInRequest } from './requests.ts'
import type { World } from './world.ts'

export interface StandInOptions {
  world: World
  apiKey?: string
  authToken?: string
  /** Each answer waits this long, plus up to `latencyJitterMs`. */
  latencyMs?: number
  latencyJitterMs?: number
  /** True (default): items and the members of each record come in another order every time. */
  shuffle?: boolean
  /** The seed of order and jitter. */
  seed?: number
  cacheMaxBytes?: number
  /** Makes the answers before starting, as many as the cache holds: for benchmarks. */
  prepare?: boolean
  /** `call => call.answer` where it is not given. */
  intercept?: Intercept
}

/** A running stand-in. What is not readonly may be changed while it runs. */
export interface StandIn {
  /** The base address, without a slash at its end. */
  readonly url: string
  readonly apiKey: string
  readonly world: World
  authToken: string
  latencyMs: number
  latencyJitterMs: number
  /** Breaks every connection and frees the port. */
  close(): Promise<void>
}

/**
 * Where tests plug in: sees every call when it has come in, and gives what answers it once the
 * latency is over, be it `call.answer` or something that writes to `call.response` in its place.
 */
export type Intercept = (call: Call) => () => void

/** One HTTP request that the stand-in has read. */
export interface Call {
  /** Null where the path is not documented. */
  readonly operation: Operation | null
  /** Null where the call is refused. */
  readonly request: StandInRequest | null
  readonly body: string
  /** What about it is outside service-api.md; null where nothing is. */
  readonly violation: string | null
  readonly response: ServerResponse
  /** JSON texts of the items of the good answer; undefined where it is a refusal. */
  items(): string[] | undefined
  /** Sends the good answer, or the refusal. */
  answer(): void
}

/**
 * Starts an HTTP server on 127.0.0.1 that serves the world as service-api.md says. What is outside
 * the document is answered 400 (404 and 405 for path and method).
 * Guesses where it shows nothing: an unknown organization, document or annotation is 404
 * NOT_FOUND, wrong credentials are 401 UNAUTHENTICATED.
 */
export async function startStandIn(options: StandInOptions): Promise<StandIn> {
  const service = new Service(options)
  const server = createServer((request, response) => service.take(request, response))
  // Longer than any pause of a client, so that a kept connection is not closed under a call.
  server.keepAliveTimeout = 120_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return Object.assign(service, {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}

/** Sends a whole JSON answer. */
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

const OPERATIONS: ReadonlyMap<string | undefined, Operation> = new Map(
  (Object.keys(PATHS) as Operation[]).map((name) => [PATHS[name], name]),
)

interface Refusal {
  status: number
  code: string
  violation: string | null
}

class Service {
  readonly world: World
  readonly apiKey: string
  authToken: string
  latencyMs: number
  latencyJitterMs: number
  readonly #answers: Answers
  readonly #intercept: Intercept
  readonly #random: Random

  constructor(options: StandInOptions) {
    const { world, seed = 1, shuffle = true, cacheMaxBytes = 128 * 1024 * 1024 } = options
    this.world = world
    this.apiKey = options.apiKey ?? 'demo-api-key'
    this.authToken = options.authToken ?? 'demo-auth-token'
    this.latencyMs = options.latencyMs ?? 0
    this.latencyJitterMs = options.latencyJitterMs ?? 0
    this.#intercept = options.intercept ?? ((call) => call.answer)
    this.#random = new Random(seed)
    this.#answers = new Answers(world, { shuffle, seed, cacheMaxBytes })
    if (options.prepare) this.#answers.prepare()
  }

  /** Reads the body of a call and answers it. */
  take(message: IncomingMessage, response: ServerResponse): void {
    const parts: Buffer[] = []
    message.on('data', (part: Buffer) => parts.push(part))
    message.once('end', () => {
      const body = (parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)).toString()
      const call = this.#read(message, response, body)
      const answer = this.#intercept(call)
      const waitMs = call.request === null ? 0 : this.#waitMs()
      if (waitMs === 0) return answer()
      const timer = setTimeout(answer, waitMs)
      response.once('close', () => clearTimeout(timer))
    })
  }

  #waitMs(): number {
    const jitterMs = this.latencyJitterMs > 0 ? this.#random.next() * this.latencyJitterMs : 0
    return this.latencyMs + jitterMs
  }

  #read(message: IncomingMessage, response: ServerResponse, body: string): Call {
    const operation = OPERATIONS.get(message.url) ?? null
    const read = this.#requestOrRefusal(message, operation, body)
    const refuse = ({ status, code }: Pick<Refusal, 'status' | 'code'>) =>
      sendJson(response, status, errorBody(operation ?? 'users', code))
    if ('status' in read) {
      const { violation } = read
      const answer = () => refuse(read)
      return { operation, request: null, body, violation, response, items: () => undefined, answer }
    }
    const items = () => this.#answers.items(read)
    const answer = () => {
      const found = items()
      if (found) sendJson(response, 200, successBody(read.operation, found))
      else refuse({ status: 404, code: 'NOT_FOUND' })
    }
    return { operation, request: read, body, violation: null, response, items, answer }
  }

  #requestOrRefusal(
    { url, method, headers }: IncomingMessage,
    operation: Operation | null,
    body: string,
  ): StandInRequest | Refusal {
    if (operation === null) return outside(404, 'NOT_FOUND', `the path ${url} is not documented`)
    if (method !== 'POST') return outside(405, 'INVALID_ARGUMENT', 'the method is not POST')
    const key = headers['x-service-api-key']
    const token = headers['x-service-auth-token']
    if (key === undefined || token === undefined)
      return outside(401, 'UNAUTHENTICATED', 'a required header is missing')
    if (key !== this.apiKey || token !== this.authToken)
      return { status: 401, code: 'UNAUTHENTICATED', violation: null }
    if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
      return outside(400, 'INVALID_ARGUMENT', 'Content-Type is not application/json')
    const request = readRequest(operation, body)
    return typeof request === 'string' ? outside(400, 'INVALID_ARGUMENT', request) : request
  }
}

function outside(status: number, code: string, violation: string): Refusal {
  return { status, code, violation }
}
