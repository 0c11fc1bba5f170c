import { CallError } from '../../base/errors.ts'
import { OPERATIONS } from '../../base/operations.ts'
import type { Filters, Operation } from '../../base/operations.ts'
import { readResponse, readingTick } from './response.ts'
import type { ServiceResponse } from './response.ts'
import { decodeBody } from './body.ts'
import { Breaker } from './circuit-breaker.ts'
import { CurrentCredentials } from './credentials.ts'
import type { Credentials, CredentialSource } from './credentials.ts'
import { ConcurrencyLimit } from './concurrency.ts'
import type { CallOutcome, ConcurrencySnapshot } from './concurrency.ts'
import { formsOfSecret, isForbidden } from './errors.ts'
import type { CallTarget } from './errors.ts'
import { ServiceHealth } from './health.ts'
import type { HealthOptions, ServiceWait } from './health.ts'
import { MemoryBudget } from './memory.ts'
import type { HeldMemory } from './memory.ts'
import { Requests } from './request.ts'
import type { RequestOptions } from './request.ts'
import { retrying } from './retry.ts'
import type { RetryPolicy } from './retry.ts'
import type { OperatorPause } from './shared-rate-limit.ts'
import type { Priority } from './wait-line.ts'

/** Members of this name among the settings are these, checked when the settings are read. */
export interface CollabApiOptions
  extends
    Omit<RequestOptions, 'connections' | 'origin'>,
    RetryPolicy,
    HealthOptions,
    CredentialSource {
  /** `http(s)://host[:port][/path]`, with or without a slash at its end. */
  readonly collabApiUrl: string
  /** Most calls in flight in this process. */
  readonly concurrency: number
  /** Called with each call that was made when it is over; must neither throw nor wait. */
  readonly onCall?: (call: CallReport) => void
}

/** Counts that calls add to, kept by the caller: one object for a batch, say. */
export interface CallStats {
  /** Calls sent, retries included. */
  calls: number
  /** The retries among them. */
  retries: number
  /** Waiting for a slot of the shared rate limit, pauses left out: what the limit costs. */
  waitedMs: number
  /** Waiting for a pause to end, or for the next try of a throttled call: what throttling costs. */
  waitedThrottledMs: number
  /** Waiting for the service. */
  serviceMs: number
}

/** What the caller of one call sets. */
export interface Call {
  /** Gives up the call, in flight or not. */
  readonly signal?: AbortSignal
  /** Gives up waiting for a permit, a slot or the next try, and lets a call in flight end; `signal` when left out. */
  readonly waitSignal?: AbortSignal
  /** Where it waits beside other calls for a permit or a slot; `normal` when left out. */
  readonly priority?: Priority
  /** `digest` of the last accepted response to the same filter. */
  readonly knownDigest?: Buffer
  readonly stats?: CallStats
  /** Called with each try as its request goes out: what the service may have seen of it. */
  readonly onSent?: (isRetry: boolean) => void
  /** Called while the call is throttled, and at the end of that, with the milliseconds since it was called last. */
  readonly onThrottled?: (ms: number) => void
  /** Called after each try that failed, before the wait for the next one, if there is one. */
  readonly onFailedTry?: (() => void) | undefined
  /** Called before each try, with `waitSignal`: null to continue, else what to wait for. A rate limit of some callers. */
  readonly beforeTry?: (waitSignal?: AbortSignal) => Promise<void> | null
  /** Counts the responses until the caller gives them back; when left out, they are given back when the call ends. */
  readonly memory?: HeldMemory
}

/** One call that was made, for metrics. */
export interface CallReport extends Pick<
  CallStats,
  'waitedMs' | 'waitedThrottledMs' | 'serviceMs'
> {
  readonly operation: Operation
  readonly outcome: CallOutcome
  readonly isRetry: boolean
}

/** The load of the client. */
export interface Load extends ConcurrencySnapshot {
  /** Calls that were sent, and whose response has not come or is being received: they have memory, a permit and a slot. */
  readonly inFlight: number
  /** Whether an operator paused the calls. */
  readonly isPaused: boolean
}

/** The client of the service; tests replace it. Safe to call from many places at once. */
export type CollabApi = Pick<Client, keyof Client>

/** @throws UsageError naming the proxy of the environment that cannot be used */
export function openCollabApi(options: CollabApiOptions): CollabApi {
  return new Client(options)
}

/** An error is short, and is read at once: what it says of the service or the credentials has to be known before the next call. */
const SHORT_BYTES = 2000

class Client {
  /** What responses may take until they are committed. */
  readonly memory = new MemoryBudget()
  readonly #options: CollabApiOptions
  readonly #basePath: string
  readonly #credentials: CurrentCredentials
  /** Keys and tokens of this process, in the forms that a response may repeat. */
  readonly #secrets: string[]
  #newest: Credentials
  readonly #breaker = new Breaker()
  readonly #health: ServiceHealth
  readonly #concurrency: ConcurrencyLimit
  readonly #requests: Requests
  /** Each counts a wait up to now. */
  readonly #waits = new Set<() => void>()

  constructor(options: CollabApiOptions) {
    const { origin, pathname } = new URL(options.collabApiUrl)
    this.#options = options
    this.#basePath = pathname.replace(/\/+$/, '')
    this.#credentials = new CurrentCredentials(options)
    this.#newest = this.#credentials.get()
    this.#secrets = Object.values(this.#newest).flatMap(formsOfSecret)
    this.#health = new ServiceHealth(options)
    this.#concurrency = new ConcurrencyLimit(options.concurrency)
    // Calls that wait for memory keep their connections: one more lets those through that they wait for.
    this.#requests = new Requests({ ...options, origin, connections: options.concurrency + 1 })
  }

  /**
   * Calls an operation (docs/SERVICE.md).
   * @throws CallError when there is no usable response after all tries; the signal's reason when it aborts; DrainingError after
   *   `close`
   */
  async get<O extends Operation>(
    operation: O,
    filter: Filters[O],
    call: Call = {},
  ): Promise<ServiceResponse> {
    const target: CallTarget = { operation, filter, secrets: this.#secrets }
    // First of all: a breaker's probe that waited here would fail the other calls meanwhile.
    const resumed = this.#options.sharedRateLimit.resumed(call.waitSignal ?? call.signal)
    if (resumed !== null) await resumed
    this.#breaker.check(target, this.#health.now())
    const body = JSON.stringify({ data: filter })
    let credentials = this.#newest
    try {
      const response = await retrying(
        (attemptNumber, throttledMs) => {
          credentials = this.#credentials.get()
          return this.#attempt(target, body, credentials, { attemptNumber, throttledMs }, call)
        },
        this.#options,
        {
          health: this.#health,
          reread: (error) => this.#reread(credentials, isForbidden(error)),
          countWait: (throttledMs) => this.#countWait(call, throttledMs),
        },
        call.waitSignal ?? call.signal,
      )
      this.#breaker.succeeded(target)
      return response
    } catch (error) {
      this.#breaker.failed(target, error, this.#health.now())
      throw error
    }
  }

  /** Calls in flight, and the limit that the load of the service allows. */
  concurrency(): Load {
    const snapshot = this.#concurrency.snapshot()
    // A call takes its permit first, and is sent as soon as it has its slot.
    const { waiting: slots, operatorPause } = this.#options.sharedRateLimit.snapshot()
    const isPaused = operatorPause !== null
    return { ...snapshot, inFlight: snapshot.permits - slots, isPaused }
  }

  /** What the calls of this process wait for now; null where they are sent at once, or there are none. */
  waiting(): ServiceWait | null {
    return this.#health.waiting(this.#concurrency.snapshot(), this.#health.now())
  }

  /** The pause of all calls that an operator ordered; null without one. */
  operatorPause(): OperatorPause | null {
    return this.#options.sharedRateLimit.snapshot().operatorPause
  }

  /** Counts the waits that last, up to now. */
  countWaits(): void {
    for (const count of this.#waits) count()
  }

  /** Forgets open breakers and refused credentials. Call it when a process begins to work on a run. */
  startAfresh(): void {
    this.#breaker.forget()
    this.#health.startAfresh()
  }

  /** Rejects the calls that wait for a permit, lets the calls in flight end, and closes the connections. */
  async close(): Promise<void> {
    this.#concurrency.close()
    await this.#requests.close()
  }

  /**
   * One try. It holds its permit while it waits for its slot and for the service, no longer: the next call is sent before
   * the response to this one is read, and while this one waits for memory.
   * @throws CallError if there is no usable response; the signal's reason when it aborts; DrainingError after `close`
   */
  async #attempt(
    target: CallTarget,
    body: string,
    credentials: Credentials,
    { attemptNumber, throttledMs }: { attemptNumber: number; throttledMs: number },
    call: Call,
  ): Promise<ServiceResponse> {
    const { signal, waitSignal = signal, priority, knownDigest, stats } = call
    const isRetry = attemptNumber > 1
    const memory = call.memory ?? this.memory.open()
    const { bytes: heldBytes } = memory
    const allowed = call.beforeTry?.(waitSignal) ?? null
    if (allowed !== null) await allowed
    const free = memory.untilFree(waitSignal)
    if (free !== null) await free
    const entered = this.#concurrency.enter(waitSignal, priority)
    if (entered !== null) await entered
    let holdsPermit = true
    let sentAtMs: number | null = null
    /** The same on the clock of the health of the service. */
    let sentAt = 0
    let endedAtMs: number | null = null
    let pausedMs = 0
    const times = { waitedMs: 0, waitedThrottledMs: throttledMs, serviceMs: 0 }
    const leave = () => {
      if (holdsPermit) this.#concurrency.leave()
      holdsPermit = false
    }
    const takeMemory = (bytes: number) => {
      const wait = memory.take(bytes, waitSignal)
      if (wait === null) return null
      const sinceMs = performance.now()
      leave()
      return wait.then(() => {
        if (endedAtMs !== null) return
        pausedMs = performance.now() - sinceMs
        holdsPermit = true
        this.#concurrency.resume()
      })
    }
    const onSent = () => {
      call.onSent?.(isRetry)
      if (stats === undefined) return
      stats.calls += 1
      if (isRetry) stats.retries += 1
    }
    let outcome: CallOutcome = 'given_up'
    try {
      this.#health.check(target, credentials, this.#health.now())
      const slot = this.#options.sharedRateLimit.acquire(waitSignal, priority)
      if (slot !== null) await this.#waitForSlot(slot, times, call)
      sentAtMs = performance.now()
      sentAt = this.#health.now()
      const path = this.#basePath + OPERATIONS[target.operation].path
      const post = { target, signal, takeMemory, onSent }
      const sent = await this.#requests.post(path, body, credentials, post)
      endedAtMs = performance.now()
      const { maxBodyBytes } = this.#options
      const reply =
        sent.encoding === undefined ? sent : await decodeBody(sent, target, maxBodyBytes)
      memory.resize(heldBytes + reply.body.length)
      if (reply.httpStatus === 200 && reply.body.length > SHORT_BYTES) {
        leave()
        await readingTick(reply.body.length)
      }
      const response = readResponse(reply, target, knownDigest)
      outcome = 'success'
      this.#health.succeeded(sentAt)
      return response
    } catch (error) {
      memory.resize(heldBytes)
      call.onFailedTry?.()
      const nowMs = this.#health.now()
      if (error instanceof CallError)
        outcome = this.#health.failed(error, credentials, sentAtMs === null ? nowMs : sentAt, nowMs)
      throw error
    } finally {
      endedAtMs ??= performance.now()
      if (sentAtMs !== null) times.serviceMs = endedAtMs - sentAtMs - pausedMs
      if (call.memory === undefined) memory.resize(0)
      this.#concurrency.learn(outcome, times.serviceMs)
      leave()
      if (stats !== undefined) {
        stats.waitedMs += times.waitedMs
        stats.serviceMs += times.serviceMs
      }
      if (sentAtMs !== null)
        this.#options.onCall?.({ operation: target.operation, outcome, isRetry, ...times })
    }
  }

  /**
   * Waits for a slot, and adds to `times` what of the wait is due to the limit, and what to pauses of the service. Pauses of an
   * operator are no wait for either.
   */
  async #waitForSlot(
    slot: Promise<void>,
    times: { waitedMs: number; waitedThrottledMs: number },
    call: Call,
  ): Promise<void> {
    const { sharedRateLimit } = this.#options
    const { pausedMs } = sharedRateLimit.snapshot()
    const sinceMs = sharedRateLimit.now()
    let allMs = 0
    const pauseMs = () => {
      allMs = sharedRateLimit.now() - sinceMs
      const now = sharedRateLimit.snapshot()
      // Without a limit only pauses make calls wait.
      return now.callsPerSecond === null ? allMs : Math.min(allMs, now.pausedMs - pausedMs)
    }
    const end = this.#countWait(call, pauseMs)
    try {
      await slot
    } finally {
      const throttledMs = end()
      times.waitedMs = allMs - throttledMs
      times.waitedThrottledMs += throttledMs
    }
  }

  /** Counts how long a call is throttled while it waits: `countWaits` and the end of the wait, which returns all of it. */
  #countWait({ stats, onThrottled }: Call, throttledMs: () => number): () => number {
    let countedMs = 0
    const count = () => {
      const ms = throttledMs() - countedMs
      countedMs += ms
      if (stats !== undefined) stats.waitedThrottledMs += ms
      if (ms > 0) onThrottled?.(ms)
    }
    this.#waits.add(count)
    return () => {
      count()
      this.#waits.delete(count)
      return countedMs
    }
  }

  async #reread(refused: Credentials, isForbidden: boolean): Promise<boolean> {
    const changed = await this.#credentials.reread(refused, isForbidden)
    const credentials = this.#credentials.get()
    if (credentials !== this.#newest) {
      this.#newest = credentials
      // The old ones stay secrets: calls that were sent with them are still being reported.
      this.#secrets.push(...Object.values(credentials).flatMap(formsOfSecret))
      // They may be why they opened.
      this.#breaker.forget()
    }
    return changed
  }
}
