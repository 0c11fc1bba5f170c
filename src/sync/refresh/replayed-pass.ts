import { quietTimes } from './classes.ts'

/** One pass of a class after the other, from the thread that changed last on. */
export class PastPass {
  startedS = -Infinity
  isPlanned = true
  #lowestS = 0
  #afterS = 0
  #afterIndex = 0

  /** Begins a pass where the class holds anybody. @returns how many */
  begin(of: number, nowS: number, recent: RecentThreads): number {
    const { fromS, toS } = quietTimes(of)
    const [lowestS, highestS] = [nowS - toS, nowS - fromS]
    const threads = recent.placeOf(highestS, Infinity) - recent.placeOf(lowestS, Infinity)
    if (threads === 0) return 0
    this.startedS = nowS
    this.isPlanned = false
    this.#lowestS = lowestS
    this.#afterS = highestS
    this.#afterIndex = Infinity
    return threads
  }

  /** The next thread; null where the pass is at its end. */
  next(recent: RecentThreads): number | null {
    const index = recent.before(this.#afterS, this.#afterIndex)
    const activeS = index === null ? -Infinity : recent.activeS(index)
    if (index === null || activeS <= this.#lowestS) {
      this.isPlanned = true
      return null
    }
    this.#afterS = activeS
    this.#afterIndex = index
    return index
  }
}

/** Threads that changed lately, in the order of their last change. */
export class RecentThreads {
  readonly #active: Float64Array
  readonly #sorted: number[] = []

  constructor(threads: number) {
    this.#active = new Float64Array(threads).fill(-Infinity)
  }

  activeS(index: number): number {
    return this.#active[index] ?? -Infinity
  }

  has(index: number): boolean {
    return this.activeS(index) !== -Infinity
  }

  /** It changed at this time; one that is known to have changed later stays. */
  put(index: number, atS: number): void {
    const before = this.activeS(index)
    if (atS <= before) return
    if (before !== -Infinity) this.#sorted.splice(this.placeOf(before, index - 1), 1)
    this.#sorted.splice(this.placeOf(atS, index), 0, index)
    this.#active[index] = atS
  }

  /** Forgets those that have not changed since. */
  purge(sinceS: number): void {
    for (const index of this.#sorted.splice(0, this.placeOf(sinceS, Infinity)))
      this.#active[index] = -Infinity
  }

  /** How many come up to this time and index. */
  placeOf(atS: number, index: number): number {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const other = this.#sorted[middle] ?? 0
      const otherS = this.activeS(other)
      if (otherS < atS || (otherS === atS && other <= index)) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The last one before this time and index. */
  before(atS: number, index: number): number | null {
    return this.#sorted[this.placeOf(atS, index - 1) - 1] ?? null
  }
}
