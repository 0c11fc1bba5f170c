import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { callFailure } from './errors.ts'
import type { Asked, Shape } from './errors.ts'
import { onAbort, resetMsOf, retryAfterMsOf } from './wait.ts'

/** What bounds one request. */
export interface ExchangeLimits {
  /** Scheme, host and port, as messages tell it. */
  readonly origin: string
  /** Over the whole call: connecting, headers and body. */
  readonly timeoutMs: number
  readonly maxBodyBytes: number
}

export interface Reply {
  readonly httpStatus: number
  readonly retryAfterMs: number | null
  /** When a quota begins anew, in so many milliseconds; left out where the service did not say. */
  readonly resetMs?: number | null
  /** `content-encoding` as it came; left out where the body is as it is. */
  readonly encoding?: string | undefined
  readonly body: Buffer
  /** Frees the bytes of a large body at once: they need not be there beside their text until the next full collection. */
  readonly release?: () => void
}

/** Takes memory for a large body: null if it was taken at once, else the wait for it. */
export type TakeMemory = (bytes: number) => Promise<void> | null

/** From this length on, a body waits for memory before it is received, and is received into one buffer. */
const LARGE_BODY_BYTES = 1_000_000

/** One request and what comes back, counted and timed while it is read. */
export class Exchange implements Dispatcher.DispatchHandler {
  settled = false
  readonly #limits: ExchangeLimits
  readonly #asked: Asked
  readonly #resolve: (reply: Reply) => void
  readonly #reject: (reason: Error) => void
  readonly #takeMemory: TakeMemory
  readonly #onSent: () => void
  #timer: NodeJS.Timeout
  #forgetSignal: (() => void) | null = null
  #controller: Dispatcher.DispatchController | null = null
  #httpStatus: number | null = null
  #retryAfterMs: number | null = null
  #resetMs: number | null = null
  #encoding: string | undefined
  #chunks: Buffer[] = []
  /** A large body goes here as it comes, so that it is not in memory twice. */
  #large: Buffer | null = null
  #bytes = 0

  constructor(
    limits: ExchangeLimits,
    asked: Asked,
    resolve: (reply: Reply) => void,
    reject: (reason: Error) => void,
    signal: AbortSignal | undefined,
    takeMemory: TakeMemory,
    onSent: () => void,
  ) {
    this.#limits = limits
    this.#onSent = onSent
    this.#takeMemory = takeMemory
    this.#asked = asked
    this.#resolve = resolve
    this.#reject = reject
    this.#timer = setTimeout(() => this.#timeOut(), limits.timeoutMs)
    if (signal !== undefined) {
      this.#forgetSignal = onAbort(signal, () => this.#giveUp(signal.reason as Error))
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // Given up while it waited for a connection: it must not be sent any more.
    if (this.settled) controller.abort(new Error('given up'))
    else this.#onSent()
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    httpStatus: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (httpStatus < 200) return
    this.#httpStatus = httpStatus
    this.#retryAfterMs = retryAfterMsOf(headers)
    this.#resetMs = resetMsOf(headers)
    if (headers['content-encoding'] !== undefined)
      this.#encoding = String(headers['content-encoding'])
    const bytes = Number(headers['content-length'])
    if (bytes > this.#limits.maxBodyBytes) this.#refuseSize()
    else if (bytes >= LARGE_BODY_BYTES) this.#receiveLarge(bytes)
  }

  #receiveLarge(bytes: number): void {
    const receive = () => {
      if (this.settled) return
      this.#large = Buffer.allocUnsafeSlow(bytes)
      this.#timer = setTimeout(() => this.#timeOut(), this.#limits.timeoutMs)
      this.#controller?.resume()
    }
    clearTimeout(this.#timer)
    const wait = this.#takeMemory(bytes)
    if (wait === null) return receive()
    this.#controller?.pause()
    wait.then(receive, (error: unknown) => this.#giveUp(error as Error))
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled) return
    // undici holds a body to its content-length; a chunk beyond it would be its own mistake, and fails the call.
    if (this.#large !== null) chunk.copy(this.#large, this.#bytes)
    else this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes > this.#limits.maxBodyBytes) this.#refuseSize()
  }

  onResponseEnd(): void {
    if (this.settled || this.#httpStatus === null) return
    try {
      this.#resolve(this.#reply(this.#httpStatus))
      this.#settle()
    } catch (error) {
      // Whatever happens, the one who waits for the reply hears of it.
      this.#fail('body_unreadable', 'its body could not be put together', error)
    }
  }

  #reply(httpStatus: number): Reply {
    const [chunks, large, [only]] = [this.#chunks, this.#large, this.#chunks]
    // The connection remembers its last exchange, which must not keep its body.
    this.#chunks = []
    this.#large = null
    const encoding = this.#encoding === undefined ? {} : { encoding: this.#encoding }
    const reply = {
      httpStatus,
      retryAfterMs: this.#retryAfterMs,
      resetMs: this.#resetMs,
      ...encoding,
    }
    if (large !== null) {
      const release = () => void structuredClone(large.buffer, { transfer: [large.buffer] })
      return { ...reply, body: large.subarray(0, this.#bytes), release }
    }
    if (chunks.length === 1 && only !== undefined) return { ...reply, body: only }
    return { ...reply, body: Buffer.concat(chunks, this.#bytes) }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.settled) return
    const code = (error as NodeJS.ErrnoException).code ?? error.name
    const isCut = this.#httpStatus !== null
    this.#fail(
      isCut ? 'body_cut' : this.#isSent ? 'connection' : 'unreachable',
      isCut
        ? `the answer broke off after ${this.#bytes} bytes (${code})`
        : `no answer from ${this.#limits.origin} (${code})`,
      error,
    )
  }

  /** Until then nothing but the connection can have failed. */
  get #isSent(): boolean {
    return this.#controller !== null
  }

  #timeOut(): void {
    this.#fail(
      this.#isSent ? 'timeout' : 'unreachable',
      `no full answer within ${this.#limits.timeoutMs} ms`,
    )
  }

  #refuseSize(): void {
    this.#fail('body_too_large', `an answer above ${this.#limits.maxBodyBytes} bytes`)
  }

  #fail(shape: Shape, detail: string, cause?: unknown): void {
    this.#giveUp(
      callFailure(this.#asked, {
        ...(this.#httpStatus === null ? {} : { httpStatus: this.#httpStatus }),
        shape,
        detail,
        retryAfterMs: this.#retryAfterMs,
        resetMs: this.#resetMs,
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
