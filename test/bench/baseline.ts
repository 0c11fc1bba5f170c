import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Figure, Result } from './bench.ts'
import type { Machine } from './machine.ts'
import { spread } from './print.ts'

/** What was measured when the baseline was last accepted, by comparison. */
export type Baseline = Readonly<Record<string, Result & { readonly machine: Machine }>>

// The program runs from a compiled copy; the baseline is kept with the sources. `run.js` starts it at the root.
const FILE = join(process.cwd(), 'test/bench/baseline.json')

/** Slower than this beyond both spreads is told: less is what two runs on one machine differ by. */
const NOISE = 0.1

export function readBaseline(): Baseline {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Baseline
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

export function writeBaseline(name: string, result: Baseline[string]): void {
  writeFileSync(FILE, `${JSON.stringify({ ...readBaseline(), [name]: result }, null, 2)}\n`)
}

/** A line for each figure that got worse than the baseline by more than the noise. */
export function slowerThan(baseline: Baseline, name: string, result: Result): string[] {
  const before = new Map(baseline[name]?.figures.map((one) => [one.name, one]))
  return result.figures.flatMap((now) => {
    const then = before.get(now.name)
    if (then === undefined || !isWorse(now, then)) return []
    return [`  WORSE than the baseline: ${now.name} was ${spread(then)}, is ${spread(now)}`]
  })
}

/** The whole spread lies on the wrong side of the other one, by more than the noise. */
function isWorse(now: Figure, then: Figure): boolean {
  return now.better === 'higher'
    ? now.high < then.low && now.median < then.median * (1 - NOISE)
    : now.low > then.high && now.median > then.median * (1 + NOISE)
}
