import { Pool } from 'undici'
import type { Dispatcher } from 'undici'
import type { IncomingHttpHeaders } from 'node:http'
import { NO_WAIT } from './body-place.ts'
import type { LargePlace } from './body-place.ts'
import { callFailure } from './call-failure.ts'
import type { Asked } from './call-failure.ts'
import { retryAfterMsOf } from './retry-after.ts'
import type { Shape } from './failures.ts'
import { onAbort } from './wait.ts'

export interface RequestOptions {
  /** Scheme, host and port. */
  readonly origin: string
  readonly apiKey: string
  readonly apiKeyHeader: string
  readonly authTokenHeader: string
  /** Over the whole call: connecting, headers and body. */
  readonly timeoutMs: number
  readonly maxBodyBytes: number
  /** Most connections that are kept open. */
  readonly connections: number
}

export interface Reply {
  readonly httpStatus: number
  readonly retryAfterMs: number | null
  readonly body: Buffer
  /** Frees the bytes of a large body at once: they need not be there beside their text until the next full collection. */
  readonly release?: () => void
}

/**
 * Makes single calls over kept-alive connections (service-api.md, Endpoints). Never tries again, never
 * follows a redirect, always verifies TLS.
 */
export class Requests {
  readonly #pool: Pool
  readonly #options: RequestOptions

  constructor(options: RequestOptions) {
    this.#options = options
    this.#pool = new Pool(options.origin, {
      connections: options.connections,
      pipelining: 1,
      // One timer a call, our own, covers connecting, headers and body together.
      headersTimeout: 0,
      bodyTimeout: 0,
      // Said aloud, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
      connect: { timeout: options.timeoutMs, rejectUnauthorized: true },
    })
  }

  /**
   * One POST of `body` (JSON) to `path`.
   * @param place where a large body waits until it may come; its time limit then begins anew
   * @returns whatever the service answered in full, under any HTTP status
   * @throws CallError when there was no full answer; the signal's reason when it aborts
   */
  post(
    path: string,
    body: string,
    token: string,
    asked: Asked,
    signal?: AbortSignal,
    place: LargePlace = NO_WAIT,
  ): Promise<Reply> {
    const { apiKeyHeader, apiKey, authTokenHeader } = this.#options
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(this.#options, asked, resolve, reject, signal, place)
      if (exchange.settled) return
      this.#pool.dispatch(
        {
          method: 'POST',
          path,
          headers: [
            'content-type',
            'application/json',
            apiKeyHeader,
            apiKey,
            authTokenHeader,
            token,
          ],
          body,
        },
        exchange,
      )
    })
  }

  /** Waits for the calls in flight, then closes the connections. */
  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** From here on a body gets its room at once, and waits for its place. */
const LARGE_BODY_BYTES = 1_000_000

/** One request and what comes back, counted and timed while it is read. */
class Exchange implements Dispatcher.DispatchHandler {
  settled = false
  readonly #options: RequestOptions
  readonly #asked: Asked
  readonly #resolve: (reply: Reply) => void
  readonly #reject: (reason: Error) => void
  readonly #place: LargePlace
  #timer: NodeJS.Timeout
  #forgetSignal: (() => void) | null = null
  #controller: Dispatcher.DispatchController | null = null
  #httpStatus: number | null = null
  #retryAfterMs: number | null = null
  #chunks: Buffer[] = []
  /** A large body goes here as it comes, so that it is not in memory twice. */
  #large: Buffer | null = null
  #bytes = 0

  constructor(
    options: RequestOptions,
    asked: Asked,
    resolve: (reply: Reply) => void,
    reject: (reason: Error) => void,
    signal: AbortSignal | undefined,
    place: LargePlace,
  ) {
    this.#options = options
    this.#place = place
    this.#asked = asked
    this.#resolve = resolve
    this.#reject = reject
    this.#timer = setTimeout(() => this.#timeOut(), options.timeoutMs)
    if (signal !== undefined) {
      this.#forgetSignal = onAbort(signal, () => this.#giveUp(signal.reason as Error))
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // Given up while it waited for a connection: it must not be sent any more.
    if (this.settled) controller.abort(new Error('given up'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    httpStatus: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (httpStatus < 200) return
    this.#httpStatus = httpStatus
    if (headers['retry-after'] !== undefined) {
      this.#retryAfterMs = retryAfterMsOf(headers['retry-after'], headers.date)
    }
    const bytes = Number(headers['content-length'])
    if (bytes > this.#options.maxBodyBytes) this.#refuseSize()
    else if (bytes >= LARGE_BODY_BYTES) this.#waitForPlace(bytes)
  }

  #waitForPlace(bytes: number): void {
    this.#controller?.pause()
    clearTimeout(this.#timer)
    void this.#place.enter(bytes).then(() => {
      if (this.settled) return
      this.#large = Buffer.allocUnsafeSlow(bytes)
      this.#timer = setTimeout(() => this.#timeOut(), this.#options.timeoutMs)
      this.#controller?.resume()
    })
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled) return
    // undici holds a body to its content-length; a chunk beyond it would be its own mistake, and fails the call.
    if (this.#large !== null) chunk.copy(this.#large, this.#bytes)
    else this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes > this.#options.maxBodyBytes) this.#refuseSize()
  }

  onResponseEnd(): void {
    if (this.settled || this.#httpStatus === null) return
    this.#settle()
    const reply = { httpStatus: this.#httpStatus, retryAfterMs: this.#retryAfterMs }
    const [chunks, large, [only]] = [this.#chunks, this.#large, this.#chunks]
    // The connection remembers its last exchange, which must not keep its body.
    this.#chunks = []
    this.#large = null
    if (large !== null) {
      const release = () => void structuredClone(large.buffer, { transfer: [large.buffer] })
      this.#resolve({ ...reply, body: large.subarray(0, this.#bytes), release })
    } else if (chunks.length === 1 && only !== undefined) this.#resolve({ ...reply, body: only })
    else this.#resolve({ ...reply, body: Buffer.concat(chunks, this.#bytes) })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.settled) return
    const code = (error as NodeJS.ErrnoException).code ?? error.name
    const isCut = this.#httpStatus !== null
    this.#fail(
      isCut ? 'body_cut' : 'connection',
      isCut
        ? `the answer broke off after ${this.#bytes} bytes (${code})`
        : `no answer from ${this.#options.origin} (${code})`,
      error,
    )
  }

  #timeOut(): void {
    this.#fail('timeout', `no full answer within ${this.#options.timeoutMs} ms`)
  }

  #refuseSize(): void {
    this.#fail('body_too_large', `an answer above ${this.#options.maxBodyBytes} bytes`)
  }

  #fail(shape: Shape, detail: string, cause?: unknown): void {
    this.#giveUp(
      callFailure(this.#asked, {
        ...(this.#httpStatus === null ? {} : { httpStatus: this.#httpStatus }),
        shape,
        detail,
        retryAfterMs: this.#retryAfterMs,
        cause,
      }),
    )
  }

  #giveUp(reason: Error): void {
    if (this.settled) return
    this.#settle()
    this.#chunks = []
    this.#large = null
    this.#reject(reason)
    this.#controller?.abort(reason)
  }

  #settle(): void {
    this.settled = true
    clearTimeout(this.#timer)
    this.#forgetSignal?.()
  }
}
