import { expect, test } from 'vitest'
import type { Forecast } from '../../src/documents/freshness.ts'
import { readForecast } from '../../src/sync/refresh/forecast.ts'
import { makeActivity } from './activity.ts'
import { figuresOf } from './past.ts'
import { refreshed } from './simulated.ts'

/** `REFRESH_FORECASTS=3` takes ten minutes: a week of a smaller world has too few changes for its figures to say anything. */
const SEEDS = Number(process.env['REFRESH_FORECASTS'] ?? 0)
const ANNOTATIONS = Number(process.env['REFRESH_ANNOTATIONS'] ?? 20_000)
const PASSES = Number(process.env['REFRESH_PASSES'] ?? 1)
const DAY = 86_400
const seeds = Array.from({ length: Math.max(1, SEEDS) }, (_, index) => index + 1)

test.runIf(SEEDS > 0).for(seeds)(
  'the tables of 14 days foretell what the planner reaches in the next 7: seed %i',
  { timeout: 3_600_000 },
  async (seed) => {
    const activity = makeActivity({ annotations: ANNOTATIONS, days: 21, seed })
    const callsPerDay = PASSES * activity.annotations.length
    const beginMs = Date.now() - 14 * DAY * 1000
    let foretold: Forecast | null = null
    const { sights } = await refreshed(
      activity,
      { callsPerDay, measureFromS: 0, promiseS: 3 * DAY, beginMs, lookAtS: 14 * DAY },
      async ({ pool }) => {
        foretold = await readForecast(pool)
      },
    )
    const [, row] = (foretold as Forecast | null)?.rows ?? []
    const [fromMs, toMs] = [beginMs + 14 * DAY * 1000, beginMs + 21 * DAY * 1000]
    const delays = sights
      .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
      .map(({ atMs, looksMs: [seenMs = NaN] }) => (seenMs - atMs) / 1000)
      .sort((one, other) => one - other)
    const came = figuresOf(delays)
    console.log(JSON.stringify({ seed, ...row, cameChanges: delays.length, came }))
    expect(Math.abs(Math.log(Number(row?.p50S) / came.p50))).toBeLessThan(Math.log(1.5))
    expect(Math.abs(Number(row?.p95S) / came.p95 - 1)).toBeLessThan(0.25)
    expect(Math.abs(Number(row?.withinTarget) - came.hour)).toBeLessThan(0.1)
  },
)
