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

/** One number: the median of several measurements, with the lowest and the highest. */
export interface Figure {
  /** Unique in the suite. It never changes: it is the key in `baseline.json`. */
  readonly name: string
  /** What is divided by what, in a few words. */
  readonly means: string
  readonly median: number
  readonly low: number
  readonly high: number
  readonly measurements: number
  /** Empty for a ratio. */
  readonly unit: string
  /** Null where the figure is only printed. */
  readonly goal: { readonly atLeast: number } | { readonly atMost: number } | null
  readonly better: 'higher' | 'lower'
}

/** A comparison: a file of `comparisons/`, listed in `comparisons/index.ts`. */
export interface Comparison {
  /** Its name for `npm run bench -- NAME`. */
  readonly name: string
  readonly title: string
  run(servers: Servers): Promise<Result>
}

/** A figure of several measurements. @throws where there are none */
export function figure(
  name: string,
  means: string,
  values: readonly number[],
  {
    unit = '',
    ...goal
  }: { unit?: string; atLeast?: number; atMost?: number; better?: 'higher' | 'lower' },
): Figure {
  const sorted = [...values].sort((a, b) => a - b)
  const [low, high] = [sorted[0], sorted.at(-1)]
  if (low === undefined || high === undefined) throw new Error(`${name} was not measured.`)
  const { atLeast, atMost, better = atMost === undefined ? 'higher' : 'lower' } = goal
  return {
    name,
    means,
    median: median(sorted),
    low,
    high,
    measurements: values.length,
    unit,
    goal: atLeast !== undefined ? { atLeast } : atMost !== undefined ? { atMost } : null,
    better,
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const [a, b] = [sorted[middle - 1], sorted[middle]]
  if (b === undefined) throw new Error('There is no median of nothing.')
  return sorted.length % 2 === 1 || a === undefined ? b : (a + b) / 2
}

export function isReached({ goal, median: value }: Figure): boolean {
  if (goal === null) return true
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost
}

/** Three significant digits: the rest is noise. */
export function short(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value)
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.min(digits, 6) })
}
