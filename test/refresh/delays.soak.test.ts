import { expect, test } from 'vitest'
import { makeActivity } from './activity.ts'
import { refreshed } from './simulated.ts'

const DAY = 86_400
const DAYS = 8
const PROMISE_S = 3 * DAY
/** One call a day for each annotation, in turn, finds a change after this time in the mean. */
const IN_TURN_S = DAY / 2
/** A made-up world, large enough to show a mistake. docs/decisions/2026-11-23-continuous-refresh.md has figures of larger ones. */
const WORLD = { annotations: 3_000, days: DAYS, seed: 1 }

const OPTIONS = {
  measureFromS: (DAYS / 3) * DAY,
  promiseS: PROMISE_S,
  beginMs: Math.floor(Date.now() / (DAY * 1000) - DAYS - 2) * DAY * 1000,
}

test('changes are seen early, everything within the promise, and delays are reported as the service has them', async () => {
  const outcome = await refreshed(makeActivity(WORLD), OPTIONS, async ({ pool }, service) => {
    const { rows } = await pool.query<Record<string, string | boolean>>(
      `select coalesce(organization_id, 'all') as organization, day::text, changes - undated as changes, p50_seconds, p95_seconds,
        mean_seconds, within_target, is_final
      from reporting.change_delay_daily where changes > undated order by 1, 2`,
    )
    const stored = await pool.query<{ key: string; seen: Date }>(
      `select annotation_id || ' ' || comment_id || ' ' || (extract(epoch from last_updated) * 1000)::bigint as key,
        min(valid_from) as seen
      from collab.comment_versions group by 1`,
    )
    const seenBy = new Map(stored.rows.map(({ key, seen }) => [key, seen.getTime()]))
    const delaysOf = new Map<string, number[]>()
    let first = 0
    for (const { organization, index, id, atMs, looksMs } of service.sights) {
      const seenMs = seenBy.get(`${index} ${id} ${atMs}`) ?? NaN
      expect(looksMs, `${index} ${id}`).toContain(seenMs)
      if (seenMs === looksMs[0]) first += 1
      const day = new Date(atMs).toISOString().slice(0, 10)
      for (const name of [`all ${day}`, `organization ${organization} ${day}`])
        delaysOf.set(name, [...(delaysOf.get(name) ?? []), Math.max(0, seenMs - atMs) / 1000])
    }
    expect(first / service.sights.length).toBeGreaterThan(0.8)
    expect(service.sights.length).toBeGreaterThan(100)
    expect(new Set(rows.map(({ organization, day }) => `${organization} ${day}`))).toEqual(
      new Set(delaysOf.keys()),
    )
    for (const row of rows) {
      const name = `${row['organization']} ${row['day']}`
      const delays = (delaysOf.get(name) ?? []).sort((one, other) => one - other)
      expect(Number(row['changes']), name).toBe(delays.length)
      expect(Number(row['within_target']), name).toBe(delays.filter((each) => each <= 3600).length)
      expect(Number(row['p50_seconds']), name).toBeCloseTo(quantile(delays, 0.5), 2)
      expect(Number(row['p95_seconds']), name).toBeCloseTo(quantile(delays, 0.95), 2)
      expect(Number(row['mean_seconds']), name).toBeCloseTo(mean(delays), 2)
      const dayEndMs = Date.parse(String(row['day'])) + DAY * 1000
      expect(row['is_final'], name).toBe(dayEndMs <= Date.now() - PROMISE_S * 1000)
    }
  })
  expect(mean(outcome.delays)).toBeLessThanOrEqual(IN_TURN_S / 3)
  expect(outcome.worstAgeS).toBeLessThanOrEqual(PROMISE_S)
}, 240_000)

test('where nothing announces a change, it is no worse than one poll after the other', async () => {
  const outcome = await refreshed(makeActivity({ ...WORLD, hasBursts: false }), OPTIONS)
  expect(mean(outcome.delays)).toBeLessThanOrEqual(0.95 * IN_TURN_S)
  expect(outcome.worstAgeS).toBeLessThanOrEqual(PROMISE_S)
}, 240_000)

function mean(delays: readonly number[]): number {
  return delays.reduce((sum, delay) => sum + delay, 0) / delays.length
}

/** Between the two nearest, as percentile_cont has it. */
function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1)
  const [below = 0, above = below] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return below + (above - below) * (place - Math.floor(place))
}
