import { expect, test } from 'vitest'
import { makeActivity } from './activity.ts'
import { refreshed } from './simulated.ts'
import type { Sight } from './simulated.ts'

const DAY = 86_400
const DAYS = 6
const PROMISE_S = 3 * DAY

test('delays are reported as the service of the world has them, by organization and for all', async () => {
  const activity = makeActivity({ annotations: 3_000, days: DAYS, seed: 1 })
  const callsPerDay = activity.annotations.length
  const beginMs = Math.floor(Date.now() / (DAY * 1000) - DAYS - 2) * DAY * 1000
  const of = { callsPerDay, measureFromS: 0, promiseS: PROMISE_S, beginMs }
  await refreshed(activity, of, async ({ pool }, service) => {
    const { rows } = await pool.query<Record<string, string | boolean>>(
      `select coalesce(organization_id, 'all') as organization, day::text, changes - undated as changes, p50_seconds, p95_seconds,
        mean_seconds, within_target, is_final
      from reporting.change_delay_daily where changes > undated order by 1, 2`,
    )
    const bySight = new Map<string, Sight[]>()
    for (const sight of service.sights) {
      const day = new Date(sight.atMs).toISOString().slice(0, 10)
      for (const name of ['all', `organization ${sight.organization}`])
        bySight.set(`${name} ${day}`, [...(bySight.get(`${name} ${day}`) ?? []), sight])
    }
    expect(service.sights.length).toBeGreaterThan(100)
    expect(new Set(rows.map(({ organization, day }) => `${organization} ${day}`))).toEqual(
      new Set(bySight.keys()),
    )
    for (const row of rows) {
      const sights = bySight.get(`${row['organization']} ${row['day']}`) ?? []
      const delays = sights
        .map(({ atMs, seenMs }) => Math.max(0, seenMs - atMs) / 1000)
        .sort((one, other) => one - other)
      const name = `${row['organization']} ${row['day']}`
      expect(Number(row['changes']), name).toBe(delays.length)
      expect(Number(row['within_target']), name).toBe(delays.filter((each) => each <= 3600).length)
      expect(Number(row['p50_seconds']), name).toBeCloseTo(quantile(delays, 0.5), 2)
      expect(Number(row['p95_seconds']), name).toBeCloseTo(quantile(delays, 0.95), 2)
      const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length
      expect(Number(row['mean_seconds']), name).toBeCloseTo(mean, 2)
      const dayEndMs = Date.parse(String(row['day'])) + DAY * 1000
      expect(row['is_final'], name).toBe(dayEndMs <= Date.now() - PROMISE_S * 1000)
    }
  })
}, 120_000)

/** Between the two nearest, as percentile_cont has it. */
function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1)
  const [below = 0, above = below] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return below + (above - below) * (place - Math.floor(place))
}
