import { CallError } from '../errors.ts'
import type { Operation } from '../errors.ts'
import { readAnswer, readingTick } from './answer.ts'
import type { Answer } from './answer.ts'
import { ConcurrencyLimit } from './concurrency.ts'
import type { ConcurrencySnapshot, Outcome } from './concurrency.ts'
import { decodeBody } from './body.ts'
import { isUnavailable } from './errors.ts'
import type { Asked } from './errors.ts'
import type { Reply } from './exchange.ts'
import { MemoryBudget } from './memory.ts'
import type { HeldMemory } from './memory.ts'
import { Reach } from './reach.ts'
import { Requests } from './request.ts'
import type { RequestOptions } from './request.ts'
import type { RetryPolicy } from './retry.ts'
import { Throttling } from './throttling.ts'
import { Refusal } from './token.ts'
import type { Priority, SharedRateLimit } from './wait.ts'
import { dateOf, RetryWaits } from './waiting.ts'
import type { ServiceWait } from './waiting.ts'

/** Counts that calls add to, kept by the caller: one object for a batch, say. */
export interface CallStats {
  /** Calls sent, further tries included. */
  calls: number
  /** The further tries among them. */
  retries: number
  /** Waiting for a slot of the shared rate limit, with a permit in hand: what the limit of the rate costs. */
  waitedMs: number
  /** Waiting for a pause to end, or for the next try of a throttled call: what throttling costs. */
  waitedThrottledMs: number
  /** Waiting for the service. */
  serviceMs: number
}

export interface Call {
  /** Gives up the call, in flight or not. */
  readonly signal?: AbortSignal
  /** Gives up waiting for a permit, a slot or the next try, and lets a call in flight end; `signal` when left out. */
  readonly waitSignal?: AbortSignal
  /** Where it waits beside other calls for a permit or a slot; `normal` when left out. */
  readonly priority?: Priority
  /** `digest` of the last answer that was taken to the same filter. */
  readonly knownDigest?: Buffer
  readonly stats?: CallStats
  /** Hears of each try as its request goes out: what the service may have seen of it. */
  readonly onSent?: (isRetry: boolean) => void
  /** Hears of each try that failed, before the wait for the next one, if there is one. */
  readonly onFailedTry?: (() => void) | undefined
  /** Called before each try, with `waitSignal`: null to continue, else what to wait for. A rate limit of some callers. */
  readonly beforeTry?: (waitSignal?: AbortSignal) => Promise<void> | null
  /** Counts the responses until the caller gives them back; when left out, they are given back when the call ends. */
  readonly memory?: HeldMemory
}

export interface AttemptOptions extends Omit<RequestOptions, 'connections'>, RetryPolicy {
  /** Most calls in flight in this process. */
  readonly maxConcurrency: number
  /** Closed by whoever opened it. */
  readonly sharedRateLimit: SharedRateLimit
  /** Hears of each call that was made when it is over; must neither throw nor wait. */
  readonly onCall?: (call: CallReport) => void
  /** Called with a sentence for an operator when the service cannot be reached, and with null when it can be again. */
  readonly onReach?: (problem: string | null) => void
}

/** What one try sends. */
export interface Sending {
  readonly path: string
  readonly body: string
  readonly token: string
  /** From 1. */
  readonly attemptNumber: number
  /** How long this try waited because the one before was throttled. */
  readonly throttledMs: number
}

/** Single tries of calls, with all that decides when one is made: the calls in flight, the shared rate limit, a refused token. */
export class Attempts {
  readonly reach: Reach
  readonly memory = new MemoryBudget()
  readonly retryWaits = new RetryWaits()
  readonly #options: AttemptOptions
  readonly #requests: Requests
  readonly #concurrency: ConcurrencyLimit
  readonly #refusal = new Refusal()
  readonly #throttling: Throttling

  constructor(options: AttemptOptions) {
    this.#options = options
    this.reach = new Reach(options.onReach)
    // Calls that wait for memory keep their connections: one more lets those through that they wait for.
    this.#requests = new Requests({ ...options, connections: options.maxConcurrency + 1 })
    this.#concurrency = new ConcurrencyLimit(options.maxConcurrency, this.memory)
    this.#throttling = new Throttling(options)
  }

  concurrency(): ConcurrencySnapshot {
    return this.#concurrency.snapshot()
  }

  /** Forgets a refused token, and for how long the service took no call. */
  startAfresh(): void {
    this.#refusal.forget()
    this.#throttling.forget()
    this.retryWaits.forget()
  }

  /** What calls wait for; null where they are sent as they come, or there are none. */
  waiting(): ServiceWait | null {
    const nowMs = performance.now()
    const { inFlight, waiting } = this.#concurrency.snapshot()
    if (inFlight + waiting + this.retryWaits.calls === 0) return null
    const { pause, waiting: slots, callsPerSecond } = this.#options.sharedRateLimit.snapshot()
    const throttled = this.#throttling.snapshot()
    const givesUpAt = (sinceMs: number) => dateOf(sinceMs + this.#options.throttledMaxMs)
    const untilMs = Math.max(throttled?.pausedUntilMs ?? 0, pause?.untilMs ?? 0)
    const until = untilMs > nowMs ? dateOf(untilMs) : null
    if (throttled !== null) {
      const { sinceMs, error } = throttled
      const since = dateOf(sinceMs)
      return { kind: 'throttled', since, until, givesUpAt: givesUpAt(sinceMs), error }
    }
    if (slots > 0 && pause !== null)
      return { kind: 'throttled', since: dateOf(pause.sinceMs), until }
    if (slots > 0 && callsPerSecond !== null) return { kind: 'rate_limit', callsPerSecond }
    const away = this.retryWaits.away(inFlight, nowMs)
    if (away === null) return null
    const { sinceMs, error } = away
    const isWaitedFor = error.kind === 'unreachable' && this.reach.wasReached
    const since = dateOf(sinceMs)
    return { kind: 'away', since, givesUpAt: isWaitedFor ? givesUpAt(sinceMs) : null, error }
  }

  async close(): Promise<void> {
    this.#concurrency.close()
    await this.#requests.close()
  }

  /**
   * One try. It holds its permit while it waits for its slot and for the service, no longer: the next call is sent before
   * the response to this one is read, and while this one waits for memory.
   * @throws CallError where there is no usable answer; the signal's reason when it aborts; DrainingError after `close`
   */
  async once(asked: Asked, sending: Sending, call: Call): Promise<Answer> {
    const { signal, waitSignal = signal, priority = 'normal', knownDigest, stats } = call
    const { path, body, token, attemptNumber } = sending
    const allowed = call.beforeTry?.(waitSignal) ?? null
    if (allowed !== null) await allowed
    const memory = call.memory ?? this.memory.open()
    const { bytes: heldBytes } = memory
    const entered = this.#concurrency.enter(waitSignal, priority, heldBytes > 0)
    if (entered !== null) await entered
    let permitAtMs: number | null = performance.now()
    let sentAtMs: number | null = null
    let endedAtMs: number | null = null
    let [waitedMs, pausedMs] = [0, 0]
    let waitedThrottledMs = sending.throttledMs
    const leave = () => {
      if (permitAtMs === null) return
      this.#concurrency.leave(priority, performance.now() - permitAtMs)
      permitAtMs = null
    }
    const takeMemory = (bytes: number) => {
      const wait = memory.take(bytes, waitSignal)
      if (wait === null) return null
      const sinceMs = performance.now()
      leave()
      return wait.then(() => {
        if (endedAtMs !== null) return
        permitAtMs = performance.now()
        pausedMs = permitAtMs - sinceMs
        this.#concurrency.resume(priority)
      })
    }
    let outcome: Outcome = 'other'
    let failure: unknown = null
    try {
      this.#refusal.check(token)
      this.#throttling.check(asked, permitAtMs)
      const slot = this.#options.sharedRateLimit.acquire(waitSignal, priority)
      if (slot !== null) {
        const waited = await this.#waitForSlot(slot)
        waitedMs = waited.limitMs
        waitedThrottledMs += waited.pauseMs
      }
      sentAtMs = performance.now()
      const onSent = () => countSent(call, attemptNumber > 1)
      const sent = await this.#requests.post(path, body, token, asked, signal, takeMemory, onSent)
      endedAtMs = performance.now()
      const { maxBodyBytes } = this.#options
      const reply = sent.encoding === undefined ? sent : await decodeBody(sent, asked, maxBodyBytes)
      memory.resize(heldBytes + reply.body.length)
      if (isLong(reply)) {
        leave()
        await readingTick(reply.body.length)
      }
      const answer = readAnswer(reply, asked, knownDigest)
      outcome = 'success'
      this.#throttling.taken(sentAtMs)
      this.retryWaits.forget()
      this.reach.answered(reply.httpStatus)
      return answer
    } catch (error) {
      failure = error
      memory.resize(heldBytes)
      call.onFailedTry?.()
      if (error instanceof CallError)
        outcome = this.#learnFrom(error, token, sentAtMs ?? performance.now())
      throw error
    } finally {
      endedAtMs ??= performance.now()
      const serviceMs = sentAtMs === null ? 0 : endedAtMs - sentAtMs - pausedMs
      if (call.memory === undefined) memory.resize(0)
      this.#concurrency.learn(outcome, serviceMs)
      leave()
      if (stats !== undefined) {
        stats.waitedMs += waitedMs
        stats.waitedThrottledMs += waitedThrottledMs
        stats.serviceMs += serviceMs
      }
      if (sentAtMs !== null)
        this.#options.onCall?.({
          operation: asked.operation,
          outcome: callOutcome(outcome, failure),
          isRetry: attemptNumber > 1,
          waitedMs,
          waitedThrottledMs,
          serviceMs,
        })
    }
  }

  /** One overloaded answer slows every process, not one call; one refused token holds the calls that wait with it. */
  #learnFrom(error: CallError, token: string, sentAtMs: number): Outcome {
    if (error.kind === 'credentials') this.#refusal.note(token, error)
    if (error.kind === 'unreachable') this.reach.failed(error)
    else if (error.httpStatus !== null) this.reach.answered(error.httpStatus)
    if (error.kind === 'throttled') {
      const pauseMs = this.#throttling.throttled(error, sentAtMs, performance.now())
      if (pauseMs > 0) void this.#options.sharedRateLimit.pauseAll(pauseMs)
      return 'overload'
    }
    if (error.errorStatus === 'timeout') return 'timeout'
    // A 503 that does not say when to come again may be one bad host: it halves the calls in flight, and no process pauses.
    if (isUnavailable(error)) return 'overload'
    if (error.httpStatus !== null) this.#throttling.taken(sentAtMs)
    if (error.kind === 'refused') this.retryWaits.forget()
    return 'other'
  }

  /** Waits for a slot. @returns what of the wait is due to the limit, and what to pauses */
  async #waitForSlot(slot: Promise<void>): Promise<{ limitMs: number; pauseMs: number }> {
    const { sharedRateLimit } = this.#options
    const { pausedMs } = sharedRateLimit.snapshot()
    const sinceMs = performance.now()
    await slot
    const allMs = performance.now() - sinceMs
    const now = sharedRateLimit.snapshot()
    // Without a limit only pauses make calls wait.
    const pauseMs = now.callsPerSecond === null ? allMs : Math.min(allMs, now.pausedMs - pausedMs)
    return { limitMs: allMs - pauseMs, pauseMs }
  }
}

/** An error is short, and is read at once: what it says of the service or the token has to be known before the next call. */
const SHORT_BYTES = 2000

function isLong({ httpStatus, body }: Reply): boolean {
  return httpStatus === 200 && body.length > SHORT_BYTES
}

function countSent({ stats, onSent }: Call, isRetry: boolean): void {
  onSent?.(isRetry)
  if (stats === undefined) return
  stats.calls += 1
  if (isRetry) stats.retries += 1
}

/** How a call went: `given_up` by us, `transient` where another try may succeed; the rest as in FailureKind. */
export type CallOutcome =
  | 'success'
  | 'overload'
  | 'timeout'
  | 'transient'
  | 'refused'
  | 'credentials'
  | 'unknown'
  | 'given_up'

/** One call that was made, for metrics. */
export interface CallReport {
  readonly operation: Operation
  readonly outcome: CallOutcome
  readonly isRetry: boolean
  /** Waiting for a slot of the shared rate limit. */
  readonly waitedMs: number
  /** Waiting because the service throttled. */
  readonly waitedThrottledMs: number
  /** Waiting for the service. */
  readonly serviceMs: number
}

/** @param failure what the call ended with; null for none */
function callOutcome(loadOutcome: Outcome, failure: unknown): CallOutcome {
  if (loadOutcome !== 'other') return loadOutcome
  if (!(failure instanceof CallError)) return 'given_up'
  if (failure.kind === 'retry' || failure.kind === 'unreachable') return 'transient'
  return failure.kind === 'throttled' ? 'overload' : failure.kind
}
