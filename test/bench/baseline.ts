import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Figure, Result } from './bench.ts'
import { spread } from './print.ts'

/** Ratios by name, as they were last accepted. */
type Baseline = Record<string, Pick<Figure, 'median' | 'low' | 'high'>>

// The suite runs from a compiled copy, and `run.js` starts it at the root of the repository.
const FILE = join(process.cwd(), 'test/bench/baseline.json')

/** Two runs on one machine differ by up to this much. */
const NOISE = 0.1

/** Writes the ratios of a comparison to `baseline.json`, one a line. */
export function acceptAsBaseline(result: Result): void {
  const accepted = { ...readBaseline() }
  for (const { name, median, low, high } of ratios(result))
    accepted[name] = { median: rounded(median), low: rounded(low), high: rounded(high) }
  const lines = Object.entries(accepted).map(
    ([name, { median, low, high }]) =>
      `  "${name}": { "median": ${median}, "low": ${low}, "high": ${high} }`,
  )
  writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`)
}

/** A line for each ratio that is worse than the baseline by more than the noise. */
export function worseThanBaseline(result: Result): string[] {
  const baseline = readBaseline()
  return ratios(result).flatMap((now) => {
    const then = baseline[now.name]
    if (then === undefined || !isWorse(now, then)) return []
    const before = `${then.median} (${then.low} to ${then.high})`
    return [`  WORSE than the baseline: ${now.name} was ${before}, is ${spread(now)}`]
  })
}

function readBaseline(): Baseline {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Baseline
}

/** Ratios are comparable between machines. Times and sizes are not. */
function ratios({ figures }: Result): Figure[] {
  return figures.filter(({ unit }) => unit === '')
}

/** The whole spread lies on the wrong side of the other one, by more than the noise. */
function isWorse(now: Figure, then: Baseline[string]): boolean {
  return 'atLeast' in now.goal
    ? now.high < then.low && now.median < then.median * (1 - NOISE)
    : now.low > then.high && now.median > then.median * (1 + NOISE)
}

function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
