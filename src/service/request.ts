import { Pool } from 'undici'
import { NO_WAIT } from './body-memory.ts'
import type { LargePlace } from './body-memory.ts'
import type { Asked } from './errors.ts'
import { Exchange } from './exchange.ts'
import type { ExchangeLimits, Reply } from './exchange.ts'

export interface RequestOptions extends ExchangeLimits {
  readonly apiKey: string
  readonly apiKeyHeader: string
  readonly authTokenHeader: string
  /** Most connections that are kept open. */
  readonly connections: number
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
   * @param onSent called when the request goes out on a connection; never for one given up before
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
    onSent: () => void = () => {},
  ): Promise<Reply> {
    const { apiKeyHeader, apiKey, authTokenHeader } = this.#options
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(this.#options, asked, resolve, reject, signal, place, onSent)
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
