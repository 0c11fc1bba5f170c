import type { On } from './statement.ts'
import * as definitions from './statements/definitions.ts'

const DAY_MS = 86_400_000

/** From when on clocks show how much more than UTC. */
interface Offset {
  readonly fromMs: number
  readonly aheadMs: number
}

/** The days of a time zone, as PostgreSQL counts them. */
export class ZoneDays {
  readonly #offsets: readonly Offset[]

  /** @param offsets in order; none for UTC */
  constructor(offsets: readonly Offset[]) {
    this.#offsets = offsets
  }

  /** The day of a time, counted from 1970-01-01. */
  dayOf(ms: number): number {
    return Math.floor((ms + this.#aheadMs(ms)) / DAY_MS)
  }

  #aheadMs(ms: number): number {
    let [low, high] = [0, this.#offsets.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#offsets[middle] as Offset).fromMs <= ms) low = middle + 1
      else high = middle
    }
    return (this.#offsets[low - 1] ?? this.#offsets[0])?.aheadMs ?? 0
  }
}

/** The days of UTC. */
export const UTC_DAYS = new ZoneDays([])

/** The days of a time zone, as PostgreSQL has it. */
export async function zoneDays(on: On, timeZone: string): Promise<ZoneDays> {
  if (timeZone === 'UTC') return UTC_DAYS
  return new ZoneDays(await definitions.offsets.all(on, { timeZone }))
}
