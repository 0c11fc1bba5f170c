import type { IncomingHttpHeaders } from 'node:http'
import { Pool } from 'undici'
import type { Dispatcher } from 'undici'
import { hasProxy, openProxies } from '../../base/proxy.ts'
import { userAgent } from '../../base/version.ts'
import { callFailure } from './errors.ts'
import type { Credentials } from './credentials.ts'
import type { CallTarget, Shape } from './errors.ts'
import { onAbort } from '../../base/abort.ts'

export interface RequestOptions {
  /** Scheme, host and port. */
  readonly origin: string
  readonly apiKeyHeader: string
  readonly authTokenHeader: string
  /** Over the whole call: connecting, headers and body. */
  readonly timeoutMs: number
  readonly maxBodyBytes: number
  /** Most connections that are open at a time. */
  readonly connections: number
}

/** What bounds one request. `origin` is the service as messages show it. */
export type RequestLimits = Pick<RequestOptions, 'origin' | 'timeoutMs' | 'maxBodyBytes'>

/** What the caller of one request sets. */
export interface PostOptions {
  readonly target: CallTarget
  readonly signal?: AbortSignal | undefined
  /** Called when the request goes out on a connection; never for one given up before. */
  readonly onSent?: () => void
  /** Takes memory for a large body before it is received: null if it was taken at once, else the wait for it. */
  readonly takeMemory?: (bytes: number) => Promise<void> | null
}

export interface Reply {
  readonly httpStatus: number
  readonly retryAfterMs: number | null
  /** Milliseconds until a quota resets; left out if the service did not say. */
  readonly resetMs?: number | null
  /** `content-encoding` as it came. */
  readonly encoding?: string | undefined
  /** `content-type` as it came. */
  readonly contentType?: string | undefined
  readonly body: Buffer
  /** Frees the bytes of a large body at once: they need not be there beside their text until the next full collection. */
  readonly release?: (() => void) | undefined
}

/** Node's own limit of 16 KiB is less than some gateways send. */
const HEADER_BYTES_MAX = 64 * 1024
/** What is parsed, so that the message can name the header that is too long. */
const PARSED_HEADER_BYTES = 4 * HEADER_BYTES_MAX

const USER_AGENT = userAgent()

/**
 * Makes single calls over kept-alive connections (docs/SERVICE.md, Requests). Never tries again, never
 * follows a redirect, always verifies TLS.
 */
export class Requests {
  readonly #connections: Dispatcher
  readonly #options: RequestOptions
  readonly #limits: RequestLimits

  /** @throws UsageError where the environment names a proxy whose address cannot be used */
  constructor(options: RequestOptions) {
    const { origin, timeoutMs, maxBodyBytes, connections } = options
    const connect = {
      timeout: timeoutMs,
      // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
      rejectUnauthorized: true,
      // Node gives each address of a name but the last 250 ms, which a distant service exceeds.
      autoSelectFamilyAttemptTimeout: Math.max(250, Math.floor(timeoutMs / 4)),
    }
    // The timer of `receive` covers connecting, headers and body together.
    const common = {
      connections,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: PARSED_HEADER_BYTES,
      connect,
    }
    const isProxied = hasProxy(origin)
    this.#options = options
    const shown = isProxied ? `${origin}, as the proxy settings say` : origin
    this.#limits = { origin: shown, timeoutMs, maxBodyBytes }
    this.#connections = isProxied
      ? openProxies({ ...common, requestTls: connect })
      : new Pool(origin, common)
  }

  /**
   * One POST of `body` (JSON) to `path`.
   * @returns the complete response of the service, with any HTTP status
   * @throws CallError when there was no complete response; the signal's reason when it aborts
   */
  post(path: string, body: string, credentials: Credentials, post: PostOptions): Promise<Reply> {
    const { apiKeyHeader, authTokenHeader, origin } = this.#options
    const { signal } = post
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    // prettier-ignore
    const headers = [
      'content-type', 'application/json',
      // Firewalls refuse calls without it.
      'user-agent', USER_AGENT,
      apiKeyHeader, credentials.apiKey,
      authTokenHeader, credentials.authToken,
    ]
    return new Promise((resolve, reject) => {
      const handler = receive(this.#limits, post, resolve, reject)
      this.#connections.dispatch({ origin, method: 'POST', path, headers, body }, handler)
    })
  }

  /** Waits for the calls in flight, then closes the connections. */
  close(): Promise<void> {
    return this.#connections.close()
  }
}

/** From this length on, a body waits for memory before it is received, and is received into one buffer. */
const LARGE_BODY_BYTES = 1_000_000

/**
 * Handles one request and its response. A handler of our own, because `request` does not report whether the request was sent,
 * which distinguishes a wrong address from a service that fails, and takes more CPU (docs/decisions/2026-11-29-cpu-of-a-call.md).
 */
export function receive(
  { origin, timeoutMs, maxBodyBytes }: RequestLimits,
  { target, signal, onSent, takeMemory }: PostOptions,
  resolve: (reply: Reply) => void,
  reject: (reason: Error) => void,
) {
  let isOver = false
  /** Null until the request goes out: until then nothing but the connection can have failed. */
  let controller: Dispatcher.DispatchController | null = null
  let head: Omit<Reply, 'body'> | null = null
  let chunks: Buffer[] = []
  /** A large body goes here as it comes, so that it is not in memory twice. */
  let large: Buffer | null = null
  let bytes = 0

  const end = () => {
    isOver = true
    clearTimeout(timer)
    forgetSignal?.()
    // The connection remembers its last handler, which must not keep the body.
    chunks = []
    large = null
  }
  const giveUp = (reason: Error) => {
    if (isOver) return
    end()
    reject(reason)
    controller?.abort(reason)
  }
  const fail = (shape: Shape, detail: string, cause?: unknown) =>
    giveUp(callFailure(target, { ...head, shape, detail, cause }))
  const refuseSize = () => fail('body_too_large', `a response above ${maxBodyBytes} bytes`)
  const timeOut = () => {
    const shape = controller === null ? 'unreachable' : 'timeout'
    fail(shape, `no complete response within ${timeoutMs} ms`)
  }
  const receiveLarge = (length: number) => {
    if (isOver) return
    large = Buffer.allocUnsafeSlow(length)
    timer = setTimeout(timeOut, timeoutMs)
    controller?.resume()
  }
  let timer = setTimeout(timeOut, timeoutMs)
  const forgetSignal = signal && onAbort(signal, () => giveUp(signal.reason as Error))

  return {
    onRequestStart(started) {
      controller = started
      // Given up while it waited for a connection: it must not be sent any more.
      if (isOver) started.abort(new Error('given up'))
      else onSent?.()
    },
    onResponseStart(_controller, httpStatus, headers) {
      if (httpStatus < 200) return
      const longest = longestBeyondLimit(headers)
      if (longest !== null) return fail('headers_too_large', longest)
      const encoding = headers['content-encoding']?.toString()
      head = {
        httpStatus,
        retryAfterMs: retryAfterMsOf(headers),
        resetMs: resetMsOf(headers),
        encoding,
        contentType: headers['content-type']?.toString(),
      }
      const length = Number(headers['content-length'])
      if (length > maxBodyBytes) return refuseSize()
      if (!(length >= LARGE_BODY_BYTES)) return
      // The wait for memory is no time of the service.
      clearTimeout(timer)
      const wait = takeMemory?.(length) ?? null
      if (wait === null) return receiveLarge(length)
      controller?.pause()
      wait.then(() => receiveLarge(length), giveUp)
    },
    onResponseData(_controller, chunk) {
      if (isOver) return
      // undici holds a body to its content-length; a chunk beyond it would be its own mistake, and fails the call.
      if (large !== null) chunk.copy(large, bytes)
      else chunks.push(chunk)
      bytes += chunk.length
      if (bytes > maxBodyBytes) refuseSize()
    },
    onResponseEnd() {
      if (isOver || head === null) return
      if (large === null) resolve({ ...head, body: Buffer.concat(chunks, bytes) })
      else {
        const { buffer } = large
        const release = () => void structuredClone(buffer, { transfer: [buffer] })
        resolve({ ...head, body: large.subarray(0, bytes), release })
      }
      end()
    },
    onResponseError(_controller, error) {
      const code = (error as NodeJS.ErrnoException).code ?? error.name
      if (code === 'UND_ERR_HEADERS_OVERFLOW')
        fail('headers_too_large', `headers above ${PARSED_HEADER_BYTES} bytes`, error)
      else if (head !== null)
        fail('body_cut', `the response broke off after ${bytes} bytes (${code})`, error)
      else {
        const shape = controller === null ? 'unreachable' : 'connection'
        fail(shape, `no response from ${origin} (${code})`, error)
      }
    },
  } satisfies Dispatcher.DispatchHandler
}

/** Null if the headers are within the limit; else their size and the longest of them. */
function longestBeyondLimit(headers: IncomingHttpHeaders): string | null {
  let total = 0
  let longest = ['', 0] as [string, number]
  for (const name in headers) {
    const bytes = name.length + String(headers[name]).length
    total += bytes
    if (bytes > longest[1]) longest = [name, bytes]
  }
  return total <= HEADER_BYTES_MAX
    ? null
    : `headers of ${total} bytes; at most ${HEADER_BYTES_MAX} are accepted. The longest is ${longest[0].slice(0, 100)} (${longest[1]} bytes)`
}

/**
 * When to retry, in milliseconds: from `retry-after-ms`, or from `Retry-After` in seconds or as a date, counted from the
 * response's own `Date` if it has one, so that two clocks are not compared. Null where neither can be read.
 */
export function retryAfterMsOf(headers: IncomingHttpHeaders): number | null {
  const ms = numberOf(headers['retry-after-ms'])
  if (ms !== null || headers['retry-after'] === undefined) return ms
  const text = headers['retry-after'].trim()
  const seconds = numberOf(text)
  if (seconds !== null) return seconds * 1000
  const untilMs = HTTP_DATE.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(untilMs) ? null : Math.max(0, untilMs - sentMsOf(headers))
}

/**
 * When a quota resets, in milliseconds: `ratelimit-reset` or `x-ratelimit-reset`, which is in seconds from now, or a time in
 * seconds or milliseconds since 1970. Null where neither can be read. Many services send it with every response.
 */
export function resetMsOf(headers: IncomingHttpHeaders): number | null {
  const reset = numberOf(headers['ratelimit-reset'] ?? headers['x-ratelimit-reset'])
  if (reset === null || reset < EPOCH_SECONDS_MIN) return reset === null ? null : reset * 1000
  const untilMs = reset < EPOCH_SECONDS_MIN * 1000 ? reset * 1000 : reset
  return Math.max(0, untilMs - sentMsOf(headers))
}

/** Of 2001, and longer than any wait. */
const EPOCH_SECONDS_MIN = 1_000_000_000

/** A date starts with the name of its day; `Date.parse` alone would take `-5` for a month. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? /

function numberOf(header: string | string[] | undefined): number | null {
  if (header === undefined) return null
  const text = String(header).trim()
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : null
}

function sentMsOf({ date }: IncomingHttpHeaders): number {
  const sentMs = date === undefined ? NaN : Date.parse(date)
  return Number.isNaN(sentMs) ? Date.now() : sentMs
}
