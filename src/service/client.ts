import { UsageError } from '../errors.ts'
import type { Operation } from '../errors.ts'
import type { Answer } from './answer.ts'
import { Attempts } from './attempt.ts'
import type { AttemptOptions, Call } from './attempt.ts'
import { Breaker } from './circuit-breaker.ts'
import type { ConcurrencySnapshot } from './concurrency.ts'
import { isForbidden } from './errors.ts'
import type { Asked } from './errors.ts'
import { checkCommentsFilter, checkUsersFilter } from './filters.ts'
import type { CommentsFilter, UsersFilter } from './filters.ts'
import type { MemoryBudget } from './memory.ts'
import { retrying } from './retry.ts'
import { isHeaderValue, openToken } from './token.ts'
import type { Token, TokenSource } from './token.ts'
import type { ServiceWait } from './waiting.ts'

export interface CollabApiOptions extends Omit<AttemptOptions, 'origin'> {
  /** `http(s)://host[:port][/path]`, with or without a slash at its end. */
  readonly baseUrl: string
  readonly tokenSource: TokenSource
}

export type { Call, CallStats } from './attempt.ts'

/** The service's two operations; safe to call from many places at once. */
export interface CollabApi {
  /**
   * Users by one of the six documented filters (service-api.md, Endpoints, 2).
   * @throws UsageError for a filter that may not be sent; CallError when there is no usable answer after
   *   all tries; the signal's reason when it aborts; DrainingError after `close`
   */
  getUsers(filter: UsersFilter, call?: Call): Promise<Answer>
  /** Comments of one annotation (service-api.md, Endpoints, 1). Throws as `getUsers` does. */
  getComments(filter: CommentsFilter, call?: Call): Promise<Answer>
  /** What responses may take until they are committed. */
  readonly memory: MemoryBudget
  /** Calls in flight and what was learned of the load. */
  concurrency(): ConcurrencySnapshot
  /** What the calls of this process wait for at the moment; null where they are sent as they come, or there are none. */
  waiting(): ServiceWait | null
  /** Forgets open breakers and a refused token: to be called when a process begins to work on a run, which tries afresh. */
  startAfresh(): void
  /** Sends away who waits for a permit, lets the calls in flight end, closes the connections. */
  close(): Promise<void>
}

/** @throws UsageError naming the setting: a base address, key, token or header name that cannot be used */
export function openCollabApi(options: CollabApiOptions): CollabApi {
  return new Client(options)
}

const PATHS: Readonly<Record<Operation, string>> = {
  users: '/v1/users/get',
  comments: '/v1/commentannotations/comments/get',
}

class Client implements CollabApi {
  readonly #options: CollabApiOptions
  readonly #paths: Readonly<Record<Operation, string>>
  readonly #token: Token
  readonly #attempts: Attempts
  readonly #breaker = new Breaker()
  readonly #secrets: string[]

  constructor(options: CollabApiOptions) {
    const url = parseBaseUrl(options.baseUrl)
    checkHeaders(options)
    const basePath = url.pathname.replace(/\/+$/, '')
    this.#options = options
    this.#paths = { users: basePath + PATHS.users, comments: basePath + PATHS.comments }
    this.#token = openToken(options.tokenSource)
    this.#secrets = [options.apiKey, this.#token.current()]
    this.#attempts = new Attempts({ ...options, origin: url.origin })
  }

  getUsers(filter: UsersFilter, call: Call = {}): Promise<Answer> {
    return this.#ask('users', filter, call)
  }

  getComments(filter: CommentsFilter, call: Call = {}): Promise<Answer> {
    return this.#ask('comments', filter, call)
  }

  get memory(): MemoryBudget {
    return this.#attempts.memory
  }

  concurrency(): ConcurrencySnapshot {
    return this.#attempts.concurrency()
  }

  waiting(): ServiceWait | null {
    return this.#attempts.waiting()
  }

  startAfresh(): void {
    this.#breaker.forget()
    this.#attempts.startAfresh()
  }

  close(): Promise<void> {
    return this.#attempts.close()
  }

  async #ask(
    operation: Operation,
    filter: UsersFilter | CommentsFilter,
    call: Call,
  ): Promise<Answer> {
    if (operation === 'users') checkUsersFilter(filter as UsersFilter)
    else checkCommentsFilter(filter as CommentsFilter)
    const asked: Asked = { operation, filter, secrets: this.#secrets }
    this.#breaker.check(asked, performance.now())
    const body = JSON.stringify({ data: filter })
    let usedToken = ''
    try {
      const answer = await retrying(
        (attemptNumber, throttledMs) => {
          usedToken = this.#token.current()
          const path = this.#paths[operation]
          const sending = { path, body, token: usedToken, attemptNumber, throttledMs }
          return this.#attempts.once(asked, sending, call)
        },
        this.#options,
        {
          reread: (error) => this.#rereadToken(usedToken, isForbidden(error)),
          reach: this.#attempts.reach,
          retryWaits: this.#attempts.retryWaits,
        },
        call.waitSignal ?? call.signal,
      )
      this.#breaker.succeeded(asked)
      return answer
    } catch (error) {
      this.#breaker.failed(asked, error, performance.now())
      throw error
    }
  }

  async #rereadToken(refused: string, isForbidden: boolean): Promise<boolean> {
    const changed = await this.#token.reread(refused, isForbidden)
    const token = this.#token.current()
    if (token !== this.#secrets.at(-1)) {
      // The old token stays a secret: calls that were sent with it are still being reported.
      this.#secrets.push(token)
      // The old token may be why they opened.
      this.#breaker.forget()
    }
    return changed
  }
}

/** The base address, checked. @throws UsageError naming COLLAB_API_URL */
function parseBaseUrl(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const isUsable =
    url !== null &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.username + url.password + url.search + url.hash === ''
  if (!isUsable) {
    throw new UsageError(
      'COLLAB_API_URL must be an http(s) address without user, query or fragment, such as https://api.example.com',
    )
  }
  return url
}

/** @throws UsageError naming the setting: a key, or the name of a header, that cannot be sent */
function checkHeaders(options: {
  readonly apiKey: string
  readonly apiKeyHeader: string
  readonly authTokenHeader: string
}): void {
  if (!isHeaderValue(options.apiKey)) {
    throw new UsageError('COLLAB_API_KEY is empty or holds a character that a header cannot carry')
  }
  for (const [setting, name] of [
    ['COLLAB_API_KEY_HEADER', options.apiKeyHeader],
    ['COLLAB_AUTH_TOKEN_HEADER', options.authTokenHeader],
  ] as const) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
      throw new UsageError(`${setting} is not the name of a header: ${JSON.stringify(name)}`)
    }
  }
}
