import { CallError } from '../errors.ts'
import type { Operation } from '../errors.ts'
import { readAnswer } from './answer.ts'
import type { Answer } from './answer.ts'
import { Breaker } from './breaker.ts'
import type { Asked } from './call-failure.ts'
import { checkHeaders, parseBaseUrl } from './check-options.ts'
import { isOverload } from './failures.ts'
import { checkCommentsFilter, checkUsersFilter } from './filters.ts'
import type { CommentsFilter, UsersFilter } from './filters.ts'
import { Gate } from './gate.ts'
import type { Outcome, PaceSnapshot } from './gate.ts'
import { Refusal } from './refusal.ts'
import { Requests } from './request.ts'
import { pauseMs, retrying } from './retry.ts'
import type { SharedPace } from './shared-pace.ts'
import { openToken } from './token.ts'
import type { Token, TokenSource } from './token.ts'

export interface CollabApiOptions {
  /** `http(s)://host[:port][/path]`, with or without a slash at its end. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly tokenSource: TokenSource
  readonly apiKeyHeader: string
  readonly authTokenHeader: string
  /** One call's time limit, from connecting to the last byte. */
  readonly timeoutMs: number
  /** Further tries of a call. */
  readonly retries: number
  readonly retryAfterMaxMs: number
  readonly maxBodyBytes: number
  /** Most calls in flight in this process. */
  readonly maxConcurrency: number
  /** Closed by whoever opened it. */
  readonly sharedPace: SharedPace
}

/** Counts that calls add to, kept by the caller: one object for a batch, say. */
export interface CallStats {
  /** Calls made, further tries included. */
  calls: number
  /** The further tries among them. */
  retries: number
  /** Waiting for a slot of the shared pace, with a permit in hand: what the limit of the rate costs. */
  waitedMs: number
  /** Waiting for the service. */
  serviceMs: number
}

export interface Call {
  /** Gives up the call, in flight or not. */
  readonly signal?: AbortSignal
  /** Gives up waiting for a permit, a slot or the next try, and lets a call in flight end; `signal` when left out. */
  readonly waitSignal?: AbortSignal
  /** `digest` of the last answer that was taken to the same filter. */
  readonly knownDigest?: Buffer
  readonly stats?: CallStats
}

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
  /** Calls in flight and what was learned of the pace. */
  pace(): PaceSnapshot
  /** Forgets open breakers and a refused token: to be called when a run starts, which tries afresh. */
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
  readonly #requests: Requests
  readonly #gate: Gate
  readonly #breaker = new Breaker()
  readonly #refusal = new Refusal()
  readonly #secrets: string[]

  constructor(options: CollabApiOptions) {
    const url = parseBaseUrl(options.baseUrl)
    checkHeaders(options)
    const basePath = url.pathname.replace(/\/+$/, '')
    this.#options = options
    this.#paths = { users: basePath + PATHS.users, comments: basePath + PATHS.comments }
    this.#token = openToken(options.tokenSource)
    this.#secrets = [options.apiKey, this.#token.current()]
    this.#requests = new Requests({
      origin: url.origin,
      apiKey: options.apiKey,
      apiKeyHeader: options.apiKeyHeader,
      authTokenHeader: options.authTokenHeader,
      timeoutMs: options.timeoutMs,
      maxBodyBytes: options.maxBodyBytes,
      connections: options.maxConcurrency,
    })
    this.#gate = new Gate(options.maxConcurrency)
  }

  async getUsers(filter: UsersFilter, call: Call = {}): Promise<Answer> {
    checkUsersFilter(filter)
    return this.#ask('users', filter, call)
  }

  async getComments(filter: CommentsFilter, call: Call = {}): Promise<Answer> {
    checkCommentsFilter(filter)
    return this.#ask('comments', filter, call)
  }

  pace(): PaceSnapshot {
    return this.#gate.snapshot()
  }

  startAfresh(): void {
    this.#breaker.forget()
    this.#refusal.forget()
  }

  async close(): Promise<void> {
    this.#gate.close()
    await this.#requests.close()
  }

  async #ask(
    operation: Operation,
    filter: UsersFilter | CommentsFilter,
    call: Call,
  ): Promise<Answer> {
    const asked: Asked = { operation, filter, secrets: this.#secrets }
    this.#breaker.check(asked, performance.now())
    const body = JSON.stringify({ data: filter })
    let usedToken = ''
    try {
      const answer = await retrying(
        (attemptNumber) => {
          usedToken = this.#token.current()
          return this.#attempt(asked, body, usedToken, call, attemptNumber)
        },
        this.#options,
        () => this.#rereadToken(usedToken),
        call.waitSignal ?? call.signal,
      )
      this.#breaker.succeeded(asked)
      return answer
    } catch (error) {
      this.#breaker.failed(asked, error, performance.now())
      throw error
    }
  }

  /** One call. It holds its permit while it waits for its slot and for the service, no longer. */
  async #attempt(
    asked: Asked,
    body: string,
    token: string,
    { signal, waitSignal = signal, knownDigest, stats }: Call,
    attemptNumber: number,
  ): Promise<Answer> {
    const wait = this.#gate.enter(waitSignal)
    if (wait !== null) await wait
    const waitingSince = performance.now()
    let sentAt: number | null = null
    let outcome: Outcome = 'other'
    try {
      this.#refusal.check(token)
      await this.#options.sharedPace.acquire(waitSignal)
      sentAt = performance.now()
      if (stats !== undefined) countCall(stats, sentAt - waitingSince, attemptNumber)
      const path = this.#paths[asked.operation]
      const reply = await this.#requests.post(path, body, token, asked, signal)
      const answer = readAnswer(reply, asked, knownDigest)
      outcome = 'success'
      return answer
    } catch (error) {
      if (error instanceof CallError) outcome = this.#learnFrom(error, token)
      throw error
    } finally {
      const tookMs = sentAt === null ? 0 : performance.now() - sentAt
      if (stats !== undefined) stats.serviceMs += tookMs
      this.#gate.leave(outcome, tookMs)
    }
  }

  /** One overloaded answer slows every process, not one call; one refused token holds the calls that wait with it. */
  #learnFrom(error: CallError, token: string): Outcome {
    if (error.kind === 'credentials') this.#refusal.note(token, error)
    if (error.errorStatus === 'timeout') return 'timeout'
    if (!isOverload(error)) return 'other'
    const ms = pauseMs(error, this.#options)
    if (ms > 0) void this.#options.sharedPace.pauseAll(ms)
    return 'overload'
  }

  async #rereadToken(refused: string): Promise<boolean> {
    const changed = await this.#token.reread(refused)
    // The old token stays a secret: calls that were sent with it are still being told about.
    if (changed && !this.#secrets.includes(this.#token.current())) {
      this.#secrets.push(this.#token.current())
    }
    return changed
  }
}

function countCall(stats: CallStats, waitedMs: number, attemptNumber: number): void {
  stats.calls += 1
  stats.waitedMs += waitedMs
  if (attemptNumber > 1) stats.retries += 1
}
