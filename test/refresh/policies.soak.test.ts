import { expect, test } from 'vitest'
import { makeActivity } from './activity.ts'
import type { ActivityOptions } from './activity.ts'
import { refreshed, roundRobin } from './simulated.ts'
import type { Outcome } from './simulated.ts'

/**
 * One small world, enough to see a mistake. What docs/decisions tells was measured with REFRESH_SEEDS=5
 * REFRESH_ANNOTATIONS=20000 REFRESH_DAYS=14, which takes twenty minutes.
 */
const SEEDS = Number(process.env['REFRESH_SEEDS'] ?? 1)
const ANNOTATIONS = Number(process.env['REFRESH_ANNOTATIONS'] ?? 3_000)
const DAYS = Number(process.env['REFRESH_DAYS'] ?? 8)
const DAY = 86_400
const PROMISE_S = 3 * DAY
const MEASURE_FROM_S = (DAYS / 3) * DAY

const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1)

async function compared(options: Omit<ActivityOptions, 'annotations' | 'days'>) {
  const activity = makeActivity({ annotations: ANNOTATIONS, days: DAYS, ...options })
  const at = { callsPerDay: activity.annotations.length, measureFromS: MEASURE_FROM_S }
  const before = roundRobin(activity, at)
  const after = await refreshed(activity, { ...at, promiseS: PROMISE_S })
  const ratios = {
    mean: mean(after) / mean(before),
    p50: quantile(after, 0.5) / quantile(before, 0.5),
    p95: quantile(after, 0.95) / quantile(before, 0.95),
    withinAnHour: within(after, 3600) / within(before, 3600),
    worstDays: after.worstAgeS / DAY,
    changes: after.changes,
  }
  console.log(
    JSON.stringify({
      ...options,
      ...ratios,
      meanHours: mean(after) / 3600,
      withinAnHourIs: within(after, 3600),
    }),
  )
  return ratios
}

test('changes are seen much sooner than by a round robin of the same calls, and everything within the promise', async () => {
  const found = []
  for (const seed of seeds) found.push(await compared({ seed }))
  expect(median(found.map(({ mean }) => mean))).toBeLessThanOrEqual(0.4)
  expect(Math.max(...found.map(({ mean }) => mean))).toBeLessThanOrEqual(0.55)
  expect(median(found.map(({ withinAnHour }) => withinAnHour))).toBeGreaterThanOrEqual(2.5)
  expect(Math.max(...found.map(({ worstDays }) => worstDays * DAY))).toBeLessThanOrEqual(PROMISE_S)
})

test('where nothing announces a change, it is hardly worse than a round robin', async () => {
  const found = []
  for (const seed of seeds) found.push(await compared({ seed, hasBursts: false }))
  expect(median(found.map(({ mean }) => mean))).toBeLessThanOrEqual(1.05)
  expect(median(found.map(({ p95 }) => p95))).toBeLessThanOrEqual(1.2)
})

function mean({ delays }: Outcome): number {
  return delays.reduce((sum, delay) => sum + delay, 0) / delays.length
}

function quantile({ delays }: Outcome, part: number): number {
  return delays[Math.min(delays.length - 1, Math.floor(part * delays.length))] ?? NaN
}

function within({ delays }: Outcome, seconds: number): number {
  return delays.filter((delay) => delay <= seconds).length / delays.length
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((one, other) => one - other)[numbers.length >> 1] ?? NaN
}
