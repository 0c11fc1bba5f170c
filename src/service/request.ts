import { Pool } from 'undici'
import type { Dispatcher } from 'undici'
import { hasProxy, openProxies } from '../proxy.ts'
import { version } from '../version.ts'
import type { Asked } from './errors.ts'
import { Exchange } from './exchange.ts'
import type { ExchangeLimits, Reply, TakeMemory } from './exchange.ts'

export interface RequestOptions extends ExchangeLimits {
  readonly apiKey: string
  readonly apiKeyHeader: string
  readonly authTokenHeader: string
  /** Most connections that are open at a time. */
  readonly connections: number
}

/**
 * Makes single calls over kept-alive connections (service-api.md, Endpoints). Never tries again, never
 * follows a redirect, always verifies TLS.
 */
export class Requests {
  readonly #connections: Dispatcher
  readonly #options: RequestOptions
  readonly #limits: ExchangeLimits

  /** @throws UsageError where the environment names a proxy whose address cannot be used */
  constructor(options: RequestOptions) {
    const { origin, timeoutMs, connections } = options
    const connect = {
      timeout: timeoutMs,
      // Said aloud, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
      rejectUnauthorized: true,
      // Node gives each address of a name but the last 250 ms, which a far service needs longer than.
      autoSelectFamilyAttemptTimeout: Math.max(250, Math.floor(timeoutMs / 4)),
    }
    const common = {
      connections,
      pipelining: 1,
      // One timer a call, our own, covers connecting, headers and body together.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect,
    }
    const isProxied = hasProxy(origin)
    this.#options = options
    this.#limits = {
      ...options,
      origin: isProxied ? `${origin}, as the proxy settings say` : origin,
    }
    this.#connections = isProxied
      ? openProxies({ ...common, requestTls: connect })
      : new Pool(origin, common)
  }

  /**
   * One POST of `body` (JSON) to `path`.
   * @param takeMemory called before a large body is received; the time limit of the call then starts anew
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
    takeMemory: TakeMemory = () => null,
    onSent: () => void = () => {},
  ): Promise<Reply> {
    const { apiKeyHeader, apiKey, authTokenHeader, origin } = this.#options
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(
        this.#limits,
        asked,
        resolve,
        reject,
        signal,
        takeMemory,
        onSent,
      )
      if (exchange.settled) return
      this.#connections.dispatch(
        {
          origin,
          method: 'POST',
          path,
          headers: [
            'content-type',
            'application/json',
            // Firewalls refuse calls without it.
            'user-agent',
            USER_AGENT,
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
    return this.#connections.close()
  }
}

const USER_AGENT = `collab-sync/${version()}`
