import type { PastThread } from '../../src/sync/refresh/replay.ts'
import type { Activity } from './activity.ts'

const DAY = 86_400

/** Threads of a world as a forecast reads them at its day `fromDay`: what is dated, up to `toDay`. */
export function pastOf(activity: Activity, fromDay: number, toDay: number): PastThread[] {
  return activity.annotations.map(({ events }) => {
    const times = events
      .filter(({ kind }) => kind !== 'delete')
      .map(({ atS }) => atS - fromDay * DAY)
    const known = times.filter((atS) => atS > -15 * DAY && atS < (toDay - fromDay) * DAY)
    return { times: known, firstS: times[0] ?? null }
  })
}

/** What forecasts are judged by, of delays in ascending order. */
export function figuresOf(delays: ArrayLike<number>): { p50: number; p95: number; hour: number } {
  const at = (share: number) =>
    delays[Math.min(delays.length - 1, Math.floor(share * delays.length))]
  const within = Array.from(delays).filter((delay) => delay <= 3600).length
  return { p50: at(0.5) ?? NaN, p95: at(0.95) ?? NaN, hour: within / delays.length }
}
