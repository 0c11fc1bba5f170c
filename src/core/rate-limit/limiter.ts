import { DrainingError } from '../../base/errors.ts'
import { RepeatedFault } from '../../base/log.ts'
import type { Log } from '../../base/log.ts'
import { OperatorPauseState } from './operator-pause.ts'
import type { RateLimitSnapshot, SharedRateLimit } from '../service/shared-rate-limit.ts'
import { WaitLine } from '../service/wait-line.ts'
import { sleep } from '../../base/abort.ts'
import type { Priority } from '../service/wait-line.ts'

/** Names the limit of all calls in its store. */
export const RATE_LIMIT_NAME = 'collab-sync-pace'

export interface RateLimitOptions {
  /** Most calls a second of all processes together (`SYNC_RATE_LIMIT`); null for no limit. */
  readonly callsPerSecond: number | null
  readonly log: Log
  /** For a caller that always takes another slot: slots are reserved in larger groups, so that nearly all of the limit is used. */
  readonly isSteady?: boolean
}

/**
 * `usedPart`: calls are spaced for this part of the limit; the rest absorbs delays of networks and event loops. `groupMs`: slots
 * for so much time are reserved at once, so that a high limit needs no round trip a call. `toleranceMs`: a delay up to this is
 * made up for; a longer one would let calls bunch up.
 */
const AS_THEY_COME = { usedPart: 0.985, groupMs: 50, toleranceMs: 50 }
const STEADY = { usedPart: 0.965, groupMs: 700, toleranceMs: 10 }
/** Without a limit, a process that makes calls reads the pause of the other processes this often. */
const READ_PAUSE_EVERY_MS = 1000
/** A pause is written to the store where it ends this much later than the known one. */
const LONGER_BY_MS = 100
/** A slot that was missed by more is requested again. Used late, it would add to the rate of the slots that follow. */
const MISSED_MS = 100
/** Between two tries of a store that fails. */
const STORE_RETRY_MS = 500

/**
 * The rate of all processes over a store. The calls of this process wait in one queue. Slots are reserved one group at a time,
 * for callers that are not steady no more than callers wait, and given out when they are due.
 */
export class RateLimiter implements SharedRateLimit {
  readonly #store: RateLimitStore
  readonly #fault: RepeatedFault
  readonly #isSteady: boolean
  readonly #queue = new WaitLine()
  readonly #closing = new AbortController()
  /** Most calls a second, by which slots are reserved from now on; null for no limit. */
  callsPerSecond: number | null
  /** Whether an operator set `callsPerSecond`. */
  isPace = false
  readonly operatorPause = new OperatorPauseState()
  #pausedSinceMs = 0
  #pausedUntilMs = -Infinity
  /** How long the pauses before the last one were. */
  #pausedBeforeMs = 0
  #pauseReadAtMs = -Infinity
  #isServing = false
  /** Requests to the store without a response yet, and since when the store has not responded; null where it has, or need not. */
  #requests = 0
  #silentSinceMs: number | null = null
  /**
   * The usual round trip to the store. A longer one counts as a reply that waited because this process was busy, but at most
   * doubles this value, so that a store that has become slow is believed after a few replies.
   */
  #roundTripMs = Infinity

  constructor(store: RateLimitStore, { callsPerSecond, isSteady = false, log }: RateLimitOptions) {
    this.#store = store
    this.#fault = new RepeatedFault(log, 'the store of the shared rate limit')
    this.#isSteady = isSteady
    this.callsPerSecond = callsPerSecond
  }

  acquire(signal?: AbortSignal, priority?: Priority): Promise<void> | null {
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason as Error)
    if (this.callsPerSecond === null && this.#isFree()) return null
    const wait = this.#queue.join(signal, priority)
    if (!this.#isServing) void this.#serve()
    return wait
  }

  resumed(signal?: AbortSignal): Promise<void> | null {
    return this.operatorPause.untilOver(signal)
  }

  now(): number {
    return this.operatorPause.now()
  }

  async pauseAll(ms: number): Promise<void> {
    const pauseMs = Math.min(ms, MAX_PAUSE_MS)
    const isLonger = performance.now() + pauseMs > this.#pausedUntilMs + LONGER_BY_MS
    this.#pause(pauseMs)
    // Sixteen calls that are throttled together are one pause: one of them writes it.
    if (isLonger) await this.#reach(() => this.#store.pause(pauseMs))
  }

  snapshot(): RateLimitSnapshot {
    const nowMs = performance.now()
    const [sinceMs, untilMs] = [this.#pausedSinceMs, this.#pausedUntilMs]
    return {
      callsPerSecond: this.callsPerSecond,
      isPace: this.isPace,
      waiting: this.#queue.length,
      operatorPause: this.operatorPause.pause,
      pause: nowMs < untilMs ? { pausedForMs: nowMs - sinceMs, leftMs: untilMs - nowMs } : null,
      pausedMs: this.#pausedBeforeMs + Math.max(0, Math.min(nowMs, untilMs) - sinceMs),
      silent:
        this.#silentSinceMs === null
          ? null
          : { server: this.#store.server, silentForMs: nowMs - this.#silentSinceMs },
    }
  }

  async close(): Promise<void> {
    const reason = new DrainingError('the shared rate limit is closed')
    this.#closing.abort(reason)
    this.#queue.dismiss(reason)
    this.operatorPause.close(reason)
  }

  /** Whether this process knows of no pause. Reads the store now and then, without waiting for it. */
  #isFree(): boolean {
    const now = performance.now()
    if (now - this.#pauseReadAtMs > READ_PAUSE_EVERY_MS) {
      this.#pauseReadAtMs = now
      void this.#readPause()
    }
    const isPaused = now < this.#pausedUntilMs || this.operatorPause.pause !== null
    return this.#queue.length === 0 && !isPaused
  }

  async #readPause(): Promise<void> {
    const pauseMs = await this.#reach(() => this.#store.pauseMs())
    if (pauseMs !== null) this.#pause(pauseMs)
  }

  /** A pause that begins while another one lasts extends it. */
  #pause(ms: number): void {
    const nowMs = performance.now()
    if (nowMs >= this.#pausedUntilMs) {
      this.#pausedBeforeMs = this.snapshot().pausedMs
      this.#pausedSinceMs = nowMs
    }
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + ms)
  }

  /** Lets the callers go, until none waits. */
  async #serve(): Promise<void> {
    this.#isServing = true
    try {
      while (this.#queue.length > 0) {
        const resumed = this.resumed(this.#closing.signal)
        if (resumed !== null) await resumed
        const pausedMs = this.#pausedUntilMs - performance.now()
        if (pausedMs > 0) {
          await sleep(pausedMs, this.#closing.signal)
          if (this.callsPerSecond === null) await this.#readPause()
        } else if (this.callsPerSecond === null) while (this.#queue.letOneGo());
        else await this.#serveGroup(this.callsPerSecond)
      }
    } catch (error) {
      // Only `close` ends a sleep early, and it has rejected all callers.
      if (!this.#closing.signal.aborted) throw error
    } finally {
      this.#isServing = false
    }
  }

  async #serveGroup(callsPerSecond: number): Promise<void> {
    const { usedPart, groupMs, toleranceMs } = this.#isSteady ? STEADY : AS_THEY_COME
    const spacing = { intervalMs: 1000 / (callsPerSecond * usedPart), toleranceMs }
    const slotsMax = Math.max(1, Math.floor(groupMs / spacing.intervalMs))
    const slots = this.#isSteady ? slotsMax : Math.min(slotsMax, this.#queue.length)
    const requestedAtMs = performance.now()
    const taken = await this.#reach(() => this.#store.take(slots, spacing))
    if (taken === null) return sleep(STORE_RETRY_MS, this.#closing.signal)
    if (taken.pauseMs > 0) return this.#pause(taken.pauseMs)
    this.#roundTripMs = Math.min(performance.now() - requestedAtMs, 2 * this.#roundTripMs + 1)
    const firstMs = requestedAtMs + this.#roundTripMs + taken.waitMs
    for (let slot = 0; slot < slots; slot += 1) {
      const dueMs = firstMs + slot * spacing.intervalMs
      const dueInMs = dueMs - performance.now()
      if (dueInMs > 0) await sleep(dueInMs, this.#closing.signal)
      if (performance.now() > dueMs + MISSED_MS) continue
      // Slots within a pause are lost: used after the pause, they would be added to new ones.
      if (performance.now() < this.#pausedUntilMs || this.operatorPause.pause !== null) return
      if (!this.#queue.letOneGo() && !this.#isSteady) return
    }
  }

  /** Null when the store fails: a limit then waits for it, and a pause holds for this process alone. */
  async #reach<T>(step: () => Promise<T>): Promise<T | null> {
    this.#requests += 1
    this.#silentSinceMs ??= performance.now()
    try {
      const response = await step()
      this.#silentSinceMs = this.#requests > 1 ? performance.now() : null
      this.#fault.recovered()
      return response
    } catch (error) {
      this.#fault.failed(error)
      return null
    } finally {
      this.#requests -= 1
    }
  }
}

/** How far apart calls are, and how much of a delay may be made up for, in milliseconds. */
export interface Spacing {
  readonly intervalMs: number
  readonly toleranceMs: number
}

/** What a store grants, in durations: the clocks of two machines are never compared. */
export interface Taken {
  /** Above 0 while a pause lasts; then no slot was reserved. */
  readonly pauseMs: number
  /** From now to the first slot, the others follow at `intervalMs`; below 0 for one that is late. */
  readonly waitMs: number
}

/**
 * What processes share to keep one rate: the time of the next free slot and the end of the pause, by the clock of the store.
 * Each function is atomic.
 */
export interface RateLimitStore {
  /** The server that has it, for an operator. */
  readonly server: 'Redis' | 'PostgreSQL'
  /** Reserves `slots` following slots. */
  take(slots: number, spacing: Spacing): Promise<Taken>
  /** Pauses all for `ms` from now; a longer pause stays. */
  pause(ms: number): Promise<void>
  /** Milliseconds that the pause still lasts; 0 without one. */
  pauseMs(): Promise<number>
}

/**
 * The longest pause that is believed: a longer one is from before a clock was set back. Well above any
 * `RETRY_AFTER_MAX_MS`.
 */
export const MAX_PAUSE_MS = 3_600_000

/** The longest time to the next free slot that is believed, likewise: a hundred processes may have reserved as many slots each. */
export function maxAheadMs(slots: number, { intervalMs }: Spacing): number {
  return Math.max(10_000, 100 * slots * intervalMs)
}
