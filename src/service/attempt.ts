import { CallError } from '../errors.ts'
import type { Operation } from '../errors.ts'
import { readAnswer } from './answer.ts'
import type { Answer } from './answer.ts'
import { BodyPlace, BodyRoom, ReadingLine } from './body-memory.ts'
import { ConcurrencyLimit, Permit } from './concurrency.ts'
import type { ConcurrencySnapshot, Outcome } from './concurrency.ts'
import { decodeBody } from './body.ts'
import { isUnavailable } from './errors.ts'
import type { Asked } from './errors.ts'
import type { Reply } from './exchange.ts'
import { Reach } from './reach.ts'
import { Requests } from './request.ts'
import type { RequestOptions } from './request.ts'
import type { RetryPolicy } from './retry.ts'
import { Throttling } from './throttling.ts'
import { Refusal } from './token.ts'
import type { Priority, SharedRateLimit } from './wait.ts'

/** Counts that calls add to, kept by the caller: one object for a batch, say. */
export interface CallStats {
  /** Calls sent, further tries included. */
  calls: number
  /** The further tries among them. */
  retries: number
  /** Waiting for a slot of the shared rate limit, with a permit in hand: what the limit of the rate costs. */
  waitedMs: number
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
  readonly onFailedTry?: () => void
  /** As `room`, but before a permit is taken: a limit that holds for some callers only. */
  readonly turn?: (waitSignal?: AbortSignal) => Promise<void> | null
  /**
   * Asked, with a permit in hand, before the call is made: null to go on, else what to wait for. Whoever cannot take one more
   * answer holds up all calls: there is one memory.
   */
  readonly room?: (waitSignal?: AbortSignal) => Promise<void> | null
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
}

/** Single tries of calls, with all that decides when one is made: the calls in flight, the shared rate limit, a refused token. */
export class Attempts {
  readonly reach: Reach
  readonly #options: AttemptOptions
  readonly #requests: Requests
  readonly #concurrency: ConcurrencyLimit
  readonly #reading = new ReadingLine()
  readonly #bodies = new BodyRoom()
  readonly #refusal = new Refusal()
  readonly #throttling: Throttling

  constructor(options: AttemptOptions) {
    this.#options = options
    this.reach = new Reach(options.onReach)
    this.#requests = new Requests({ ...options, connections: options.maxConcurrency })
    this.#concurrency = new ConcurrencyLimit(options.maxConcurrency)
    this.#throttling = new Throttling(options)
  }

  concurrency(): ConcurrencySnapshot {
    return this.#concurrency.snapshot()
  }

  /** Forgets a refused token, and for how long the service took no call. */
  startAfresh(): void {
    this.#refusal.forget()
    this.#throttling.forget()
  }

  async close(): Promise<void> {
    this.#concurrency.close()
    await this.#requests.close()
  }

  /**
   * One try. It holds its permit while it waits for its slot and for the service, no longer: the next call is made before
   * the answer to this one is read.
   * @throws CallError where there is no usable answer; the signal's reason when it aborts; DrainingError after `close`
   */
  async once(asked: Asked, sending: Sending, call: Call): Promise<Answer> {
    const { signal, waitSignal = signal, priority = 'normal', knownDigest, stats } = call
    const turn = call.turn?.(waitSignal) ?? null
    if (turn !== null) await turn
    const entered = this.#concurrency.enter(waitSignal, priority)
    if (entered !== null) await entered
    const permit = new Permit(this.#concurrency, priority)
    const place = new BodyPlace(this.#bodies, () => call.room?.(waitSignal) ?? null)
    let outcome: Outcome = 'other'
    let failure: unknown = null
    try {
      this.#refusal.check(sending.token)
      this.#throttling.check(asked, performance.now())
      await call.room?.(waitSignal)
      const slot = this.#options.sharedRateLimit.acquire(waitSignal, priority)
      if (slot !== null) {
        permit.waitsForSlot()
        await slot
      }
      const waitedMs = permit.sent()
      if (stats !== undefined) stats.waitedMs += waitedMs
      const { path, body, token, attemptNumber } = sending
      const onSent = () => countSent(call, attemptNumber > 1)
      const sent = await this.#requests.post(path, body, token, asked, signal, place, onSent)
      permit.answered(place.heldUpMs)
      const { maxBodyBytes } = this.#options
      const reply = sent.encoding === undefined ? sent : await decodeBody(sent, asked, maxBodyBytes)
      if (isLong(reply)) await this.#waitForTurn(reply.body.length, permit)
      const answer = readAnswer(reply, asked, knownDigest)
      outcome = 'success'
      this.#throttling.taken(permit.sentAtMs)
      this.reach.answered(reply.httpStatus)
      return answer
    } catch (error) {
      failure = error
      call.onFailedTry?.()
      if (error instanceof CallError) outcome = this.#learnFrom(error, sending.token, permit)
      throw error
    } finally {
      place.leave()
      permit.ended(outcome)
      if (stats !== undefined) stats.serviceMs += permit.serviceMs
      const { waitedMs, serviceMs } = permit
      if (waitedMs !== null)
        this.#options.onCall?.({
          operation: asked.operation,
          outcome: callOutcome(outcome, failure),
          isRetry: sending.attemptNumber > 1,
          waitedMs,
          serviceMs,
        })
    }
  }

  async #waitForTurn(bytes: number, permit: Permit): Promise<void> {
    if (this.#reading.hasRoom(bytes, this.#options.maxConcurrency)) permit.giveBack()
    await this.#reading.join(bytes)
  }

  /** One overloaded answer slows every process, not one call; one refused token holds the calls that wait with it. */
  #learnFrom(error: CallError, token: string, { sentAtMs }: Permit): Outcome {
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
    return 'other'
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
