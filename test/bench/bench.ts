import type { Servers } from './servers.ts'

/** The result of one comparison. */
export interface Result {
  readonly tables: readonly Table[]
  readonly figures: readonly Figure[]
}

export interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
}

/** A limit that a figure has to keep. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** One number: the median of several measurements, with the lowest and the highest. */
export interface Figure {
  /** Unique in the suite. */
  readonly name: string
  /** What is divided by what, in a few words. */
  readonly means: string
  readonly median: number
  readonly low: number
  readonly high: number
  readonly measurements: number
  /** Empty for a ratio. */
  readonly unit: string
  readonly goal: Goal
}

export interface Options {
  /** Size of a large catalog. */
  readonly annotations: number
}

/** A comparison: a file of `comparisons/`, listed in `comparisons/index.ts`. */
export interface Comparison {
  /** Its name for `npm run bench -- NAME`. */
  readonly name: string
  readonly title: string
  /** True where `npm run bench` without names leaves it out. */
  readonly isOnlyByName?: boolean
  run(servers: Servers, options: Options): Promise<Result>
}

/** A figure of several measurements. @throws where there are none */
export function figure(
  name: string,
  means: string,
  values: readonly number[],
  { unit = '', ...goal }: Goal & { unit?: string },
): Figure {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return { name, means, median: median(values), low, high, measurements: values.length, unit, goal }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const [a, b] = [sorted[middle - 1], sorted[middle]]
  if (b === undefined) throw new Error('There is no median of nothing.')
  return sorted.length % 2 === 1 || a === undefined ? b : (a + b) / 2
}

export function isReached({ goal, median: value }: Figure): boolean {
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost
}

/** Three significant digits: the rest is noise. */
export function short(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value)
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.min(digits, 6) })
}
