/**
 * Folds a seed and any number of integers into one 32-bit number, the same for the same input
 * everywhere. This is what lets a world be a pure function of its seed and indices.
 */
export function seedOf(seed: number, ...parts: number[]): number {
  let mixed = seed | 0
  for (const part of parts) {
    mixed = Math.imul(mixed ^ part, 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    mixed ^= mixed >>> 16
  }
  return mixed >>> 0
}

/**
 * Mulberry32. Our own eight lines because the known library (pure-rand) only comes in with the
 * test tools, while the stand-in is part of what is installed; quality is enough for test data.
 */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** The next number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** The next integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** One member of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  /** Puts the list in another order, in place (Fisher-Yates). */
  shuffle<T>(list: T[]): void {
    for (let last = list.length - 1; last > 0; last--) {
      const other = this.below(last + 1)
      const kept = list[last] as T
      list[last] = list[other] as T
      list[other] = kept
    }
  }
}
