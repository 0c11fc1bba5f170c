import { RECENT_S } from '../../database/scopes.ts'
import {
  EVERYTHING,
  fadedOver,
  HOT_CLASSES,
  nextClass,
  quietTimes,
  virtualTimeAfter,
  weights,
} from './classes.ts'
import type { ClassState, Promised } from './classes.ts'
import { PASS_MIN_S } from './pass.ts'
import { PastPass, RecentThreads } from './replayed-pass.ts'

/** A thread as the past has it: times of its changes, ascending, in seconds since the begin of what is measured. */
export interface PastThread {
  readonly times: readonly number[]
  /** When its first comment was written; null where it has none. Its first look finds that: it counts for no delay. */
  readonly firstS: number | null
}

export interface ReplayOptions extends Promised {
  /** Scopes that are swept beside the threads: listings of users. */
  readonly others: number
  /** Changes from 0 up to this time are measured ... */
  readonly untilS: number
  /** ... in a replay that begins so much earlier: by then it has learned how often each class changes. */
  readonly warmS: number
  /** So many looks are planned at a time. */
  readonly looksAPage: number
}

/** What a replay gave: delays of all changes in seconds, ascending, and how long everything takes to be looked at once. */
export interface Replayed {
  readonly delays: Float64Array
  readonly everythingS: number
}

/** Where there is nothing to look at. */
const IDLE_S = 0.5

/** Looks at threads of the past as the planner would have with this budget: the same classes, weights, order and learning. */
export function replay(threads: readonly PastThread[], options: ReplayOptions): Replayed {
  return new Replay(threads, options).run()
}

class Replay {
  readonly #threads: readonly PastThread[]
  readonly #options: ReplayOptions
  readonly #passes = Array.from({ length: HOT_CLASSES }, () => new PastPass())
  readonly #classes: Learned[]
  readonly #recent: RecentThreads
  /** How many changes of each thread were seen, and when it was last looked at. */
  readonly #seen: Int32Array
  readonly #lookedAt: Float64Array
  readonly #delays: number[] = []
  /** Threads that come up while it is replayed, the next one last. */
  readonly #newest: number[]
  #left = 0
  #nowS: number
  #place = 0
  #swept = 0

  constructor(threads: readonly PastThread[], options: ReplayOptions) {
    const { others, untilS, warmS } = options
    const scopes = threads.length + others
    this.#threads = threads
    this.#options = options
    this.#nowS = -warmS
    this.#recent = new RecentThreads(threads.length)
    this.#seen = new Int32Array(threads.length)
    this.#lookedAt = new Float64Array(threads.length)
    this.#classes = Array.from({ length: EVERYTHING + 1 }, () => new Learned(-warmS))
    this.#everything.threads = scopes
    const firstS = (index: number) => threads[index]?.firstS ?? -Infinity
    this.#newest = [...threads.keys()]
      .filter((index) => firstS(index) > -warmS && firstS(index) < untilS)
      .sort((one, other) => firstS(other) - firstS(one))
    for (const [index, { times, firstS }] of threads.entries()) {
      const before = times.filter((atS) => atS <= -warmS)
      this.#seen[index] = before.length
      const activeS = before.at(-1) ?? -Infinity
      // As in a sweep that has gone on for long; what changed lately was looked at just now.
      const sweptS = -warmS - (scopes - index) / options.budget
      this.#lookedAt[index] = activeS > -warmS - RECENT_S ? -warmS : sweptS
      this.#recent.put(index, activeS)
      this.#left += times.filter((atS) => isMeasured(atS, firstS, untilS)).length
    }
  }

  get #everything(): Learned {
    return this.#classes[EVERYTHING] as Learned
  }

  /** Goes on after the end until each change is seen: else the slowest would be missing. */
  run(): Replayed {
    const { looksAPage, untilS, warmS } = this.#options
    const laps = () => this.#swept / Math.max(1, this.#everything.threads)
    let lapsAtEnd = 0
    while (this.#nowS < untilS || this.#left > 0) {
      const looks = this.#choose(looksAPage)
      if (looks === 0) this.#nowS += IDLE_S
      if (this.#nowS <= untilS) lapsAtEnd = laps()
    }
    const everythingS = (untilS + warmS) / Math.max(lapsAtEnd, 1e-9)
    return { delays: Float64Array.from(this.#delays).sort(), everythingS }
  }

  /** Plans and makes the next looks. @returns how many */
  #choose(looks: number): number {
    this.#meetNew()
    const nowS = this.#nowS
    for (const [of, pass] of this.#passes.entries()) {
      const learned = this.#classes[of] as Learned
      if (pass.isPlanned && nowS - pass.startedS >= PASS_MIN_S) {
        learned.threads = pass.begin(of, nowS, this.#recent)
        if (of === HOT_CLASSES - 1) this.#recent.purge(nowS - quietTimes(of).toS)
      }
      learned.isReady = !pass.isPlanned
    }
    const weighed = weights(this.#classes, this.#options)
    const next = nextClass(this.#classes, weighed, looks)
    if (next === null) return 0
    const learned = this.#classes[next.chosen] as Learned
    const pass = this.#passes[next.chosen]
    let [made, found, gapS] = [0, 0, 0]
    for (; made < looks; made += 1) {
      const index = pass === undefined ? this.#nextSwept() : pass.next(this.#recent)
      if (index === null) break
      this.#nowS += 1 / this.#options.budget
      if (index >= this.#threads.length) continue
      // What threads are looked at by themselves too tells nothing of the others.
      const tells = pass !== undefined || !this.#recent.has(index)
      if (tells) gapS += this.#nowS - (this.#lookedAt[index] ?? 0)
      if (this.#look(index) && tells) found += 1
    }
    learned.virtualTime = virtualTimeAfter(next.at, made, weighed[next.chosen] ?? 0)
    learned.learn(this.#nowS, found, gapS)
    return made
  }

  /** Looks at threads that the catalog did not hold before: at once, as the planner does. */
  #meetNew(): void {
    for (let index = this.#newest.at(-1); index !== undefined; index = this.#newest.at(-1)) {
      if ((this.#threads[index]?.firstS ?? 0) > this.#nowS) return
      this.#newest.pop()
      this.#nowS += 1 / this.#options.budget
      this.#look(index)
    }
  }

  #nextSwept(): number {
    const index = this.#place
    this.#place = (index + 1) % this.#everything.threads
    this.#swept += 1
    return index
  }

  /** @returns whether it found a change */
  #look(index: number): boolean {
    const { times, firstS } = this.#threads[index] as PastThread
    const nowS = this.#nowS
    const { untilS } = this.#options
    this.#lookedAt[index] = nowS
    const before = this.#seen[index] ?? 0
    let seen = before
    for (; (times[seen] ?? Infinity) <= Math.min(nowS, untilS); seen += 1) {
      const atS = times[seen] ?? 0
      if (!isMeasured(atS, firstS, untilS)) continue
      this.#delays.push(nowS - atS)
      this.#left -= 1
    }
    if (seen === before) return false
    this.#seen[index] = seen
    this.#recent.put(index, times[seen - 1] ?? 0)
    return true
  }
}

function isMeasured(atS: number, firstS: number | null, untilS: number): boolean {
  return atS > 0 && atS < untilS && atS !== firstS
}

/** What is known of a class. */
class Learned implements ClassState {
  threads = 0
  virtualTime = 0
  found = 0
  gapS = 0
  isReady = true
  #atS: number

  constructor(atS: number) {
    this.#atS = atS
  }

  learn(atS: number, found: number, gapS: number): void {
    const faded = fadedOver(atS - this.#atS)
    this.found = this.found * faded + found
    this.gapS = this.gapS * faded + gapS
    this.#atS = atS
  }
}
