import { expect, test } from 'vitest'
import { makeActivity, simulate } from './simulated.ts'

const DAY = 86_400
const DAYS = 6
const PROMISE_S = 3 * DAY
const ANNOTATIONS = 1_000
/** The mean delay if each annotation is polled once a day, one after the other. */
const ROUND_ROBIN_S = DAY / 2
/** Large enough to show a mistake; docs/decisions has measurements of larger worlds. */
const WORLD = { annotations: ANNOTATIONS, days: DAYS, seed: 1 }
const OPTIONS = {
  callsPerDay: ANNOTATIONS,
  days: DAYS,
  measureFromS: (DAYS / 3) * DAY,
  promiseS: PROMISE_S,
  beginMs: Math.floor(Date.now() / (DAY * 1000) - DAYS - 2) * DAY * 1000,
}

test('changes are seen early, everything within the promise, and reported with the delays of the service', async () => {
  const service = await simulate(makeActivity(WORLD), OPTIONS, async ({ pool }, { shownAt }) => {
    const { rows } = await pool.query<{ key: string; seen: Date }>(
      `select annotation_id || ' ' || comment_id as key, min(valid_from) as seen
      from collab.comment_versions group by 1`,
    )
    const stored = new Map(rows.map(({ key, seen }) => [key, seen]))
    expect(shownAt.size).toBeGreaterThan(100)
    // A response is discarded if another claim wrote to its batch meanwhile; then the change is dated by a later one.
    const late = [...shownAt].filter(([key, at]) => stored.get(key)?.getTime() !== at.getTime())
    expect(late.length / shownAt.size).toBeLessThan(0.2)
    console.log(late.map(([key, at]) => [key, at, stored.get(key)]))
    const reported = await pool.query(
      `select (select sum(changes)::int from reporting.change_delay_daily where organization_id is null) = count(*) as is_all
      from collab.comments where first_seen_at > $1`,
      [new Date(OPTIONS.beginMs)],
    )
    expect(reported.rows).toEqual([{ is_all: true }])
  })
  console.log("MEAN", mean(service.delays) / ROUND_ROBIN_S, service.delays.length, service.worstAgeS / DAY)
  expect(mean(service.delays)).toBeLessThanOrEqual(ROUND_ROBIN_S / 3)
  expect(service.worstAgeS).toBeLessThanOrEqual(PROMISE_S)
}, 240_000)

test('if changes are independent, refresh is no worse than one poll after the other', async () => {
  const service = await simulate(makeActivity(WORLD, false), OPTIONS)
  console.log("MEAN", mean(service.delays) / ROUND_ROBIN_S, service.delays.length, service.worstAgeS / DAY)
  expect(mean(service.delays)).toBeLessThanOrEqual(ROUND_ROBIN_S)
  expect(service.worstAgeS).toBeLessThanOrEqual(PROMISE_S)
}, 240_000)

function mean(delays: readonly number[]): number {
  return delays.reduce((sum, delay) => sum + delay, 0) / delays.length
}
