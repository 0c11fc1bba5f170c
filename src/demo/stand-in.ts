import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Operation } from '../errors.ts'
import { Answers, errorBody, successBody } from './answers.ts'
import { CallLog } from './call-log.ts'
import { answerWithFault, sendJson } from './fault-answers.ts'
import { FaultInjector } from './faults.ts'
import type { FaultRule } from './faults.ts'
import { Random } from './random.ts'
import { PATHS, readRequest } from './requests.ts'
import type { StandInRequest } from './requests.ts'
import type { World } from './world.ts'

export interface StandInOptions {
  world: World
  /** 0 (default): any free port. */
  port?: number
  /** What stands before both paths, such as `/api`. */
  basePath?: string
  apiKey?: string
  authToken?: string
  apiKeyHeader?: string
  authTokenHeader?: string
  /** Each answer waits this long, plus up to `latencyJitterMs`. */
  latencyMs?: number
  latencyJitterMs?: number
  /** True (default): items and the members of each record come in another order every time. */
  shuffle?: boolean | { items: boolean; keys: boolean }
  combine?: 'intersection' | 'union'
  /** The seed of order, jitter and faults. */
  seed?: number
  /** A filter with more ids is a violation. */
  maxIds?: number
  faults?: readonly FaultRule[]
  /** How many of the newest calls are kept at least; 0 keeps none. */
  logCalls?: number
  cacheMaxBytes?: number
  /** Makes the answers before starting, as many as the cache holds: for benchmarks. */
  prepare?: boolean
}

/** A running stand-in. What is not readonly may be changed while it runs. */
export interface StandIn {
  /** The base address, without a slash at its end. */
  readonly url: string
  readonly apiKey: string
  readonly world: World
  readonly calls: CallLog
  /** Calls that were outside service-api.md, the first thousand: `calls.violations`. */
  readonly violations: CallLog['violations']
  authToken: string
  latencyMs: number
  latencyJitterMs: number
  combine: 'intersection' | 'union'
  setFaults(rules: readonly FaultRule[]): void
  /** Breaks every connection and frees the port. */
  close(): Promise<void>
}

/**
 * Starts an HTTP server on 127.0.0.1 that serves the world as service-api.md says. What is outside
 * the document is answered 400 (404 and 405 for path and method) and recorded as a violation.
 * Guesses where it shows nothing: an unknown organization, document or annotation is 404
 * NOT_FOUND, wrong credentials are 401 UNAUTHENTICATED. Rejects where the port is taken.
 */
export async function startStandIn(options: StandInOptions): Promise<StandIn> {
  const service = new Service(options)
  const server = createServer((request, response) => service.take(request, response))
  // Longer than any pause of a client, so that a kept connection is not closed under a call.
  server.keepAliveTimeout = 120_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return Object.assign(service, {
    url: `http://127.0.0.1:${port}${service.basePath}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}

class Service {
  readonly world: World
  readonly apiKey: string
  readonly basePath: string
  readonly calls: CallLog
  authToken: string
  latencyMs: number
  latencyJitterMs: number
  readonly #answers: Answers
  readonly #faults: FaultInjector
  readonly #random: Random
  readonly #operations: ReadonlyMap<string | undefined, Operation>
  readonly #apiKeyHeader: string
  readonly #authTokenHeader: string
  readonly #maxIds: number

  constructor(options: StandInOptions) {
    const { shuffle = true, seed = 1 } = options
    this.world = options.world
    this.apiKey = options.apiKey ?? 'demo-api-key'
    this.authToken = options.authToken ?? 'demo-auth-token'
    this.basePath = options.basePath ?? ''
    this.latencyMs = options.latencyMs ?? 0
    this.latencyJitterMs = options.latencyJitterMs ?? 0
    this.calls = new CallLog(options.logCalls ?? 20_000)
    this.#apiKeyHeader = (options.apiKeyHeader ?? 'x-service-api-key').toLowerCase()
    this.#authTokenHeader = (options.authTokenHeader ?? 'x-service-auth-token').toLowerCase()
    this.#maxIds = options.maxIds ?? 30
    this.#random = new Random(seed)
    this.#faults = new FaultInjector(options.faults ?? [], seed)
    this.#operations = new Map(
      (Object.keys(PATHS) as Operation[]).map((name) => [this.basePath + PATHS[name], name]),
    )
    this.#answers = new Answers(options.world, {
      shuffleItems: typeof shuffle === 'boolean' ? shuffle : shuffle.items,
      shuffleKeys: typeof shuffle === 'boolean' ? shuffle : shuffle.keys,
      combine: options.combine ?? 'intersection',
      seed,
      cacheMaxBytes: options.cacheMaxBytes ?? 128 * 1024 * 1024,
    })
    if (options.prepare) this.#answers.prepare()
  }

  get violations() {
    return this.calls.violations
  }

  get combine() {
    return this.#answers.options.combine
  }

  set combine(how: 'intersection' | 'union') {
    this.#answers.options.combine = how
  }

  setFaults(rules: readonly FaultRule[]): void {
    this.#faults.setRules(rules)
  }

  /** Counts the call, reads its body and answers it. */
  take(message: IncomingMessage, response: ServerResponse): void {
    this.calls.arrived()
    response.once('close', () => this.calls.left())
    const parts: Buffer[] = []
    message.on('data', (part: Buffer) => parts.push(part))
    message.once('end', () => {
      const body = (parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)).toString()
      this.#answer(message, response, body)
    })
  }

  #answer(message: IncomingMessage, response: ServerResponse, body: string): void {
    const operation = this.#operations.get(message.url)
    const refuse = (status: number, code: string, reason?: string) => {
      const atMs = Date.now()
      const name = operation ?? null
      if (reason !== undefined) this.calls.violated({ atMs, operation: name, reason, body })
      this.calls.answered({ atMs, operation: name, data: null, status, fault: null })
      sendJson(response, status, errorBody(operation ?? 'users', code))
    }
    if (!operation) return refuse(404, 'NOT_FOUND', `the path ${message.url} is not documented`)
    if (message.method !== 'POST') return refuse(405, 'INVALID_ARGUMENT', 'the method is not POST')
    const key = message.headers[this.#apiKeyHeader]
    const token = message.headers[this.#authTokenHeader]
    if (key === undefined || token === undefined) {
      return refuse(401, 'UNAUTHENTICATED', 'a required header is missing')
    }
    if (key !== this.apiKey || token !== this.authToken) return refuse(401, 'UNAUTHENTICATED')
    if (!/^application\/json\s*(;|$)/i.test(message.headers['content-type'] ?? '')) {
      return refuse(400, 'INVALID_ARGUMENT', 'Content-Type is not application/json')
    }
    const request = readRequest(operation, body, this.#maxIds)
    if (typeof request === 'string') return refuse(400, 'INVALID_ARGUMENT', request)
    this.#serve(request, response)
  }

  #serve(request: StandInRequest, response: ServerResponse): void {
    const fault = this.#faults.pick(request)
    const waitMs =
      this.latencyMs +
      (this.latencyJitterMs > 0 ? this.#random.next() * this.latencyJitterMs : 0) +
      (fault?.kind === 'slow' ? fault.delayMs : 0)
    if (waitMs === 0) return this.#send(request, response, fault)
    const gaveUp = () => {
      clearTimeout(timer)
      this.#log(request, null, fault)
    }
    const timer = setTimeout(() => {
      response.off('close', gaveUp)
      this.#send(request, response, fault)
    }, waitMs)
    response.once('close', gaveUp)
  }

  #send(request: StandInRequest, response: ServerResponse, fault: FaultRule | undefined): void {
    const { operation } = request
    const items = this.#answers.items(request)
    if (fault && fault.kind !== 'slow') answerWithFault(fault, request, response, items ?? [])
    else if (items) sendJson(response, 200, successBody(operation, items))
    else sendJson(response, 404, errorBody(operation, 'NOT_FOUND'))
    this.#log(request, response.headersSent ? response.statusCode : null, fault)
  }

  #log({ operation, data }: StandInRequest, status: number | null, fault?: FaultRule): void {
    this.calls.answered({ atMs: Date.now(), operation, data, status, fault: fault?.kind ?? null })
  }
}
