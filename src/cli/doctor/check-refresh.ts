import { readRefresh } from '../../client/freshness.ts'
import type { Database } from '../../database/pool.ts'
import { readForecast } from '../../sync/refresh/forecast.ts'
import { describeForecast, describePause } from '../refresh-details.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Continuous refresh: whether its budget keeps the promise, whether it is paused, and what to expect of it. Nothing where there is none. */
export async function checkRefresh(database: Database): Promise<Finding[]> {
  const refresh = await readRefresh(database)
  if (refresh === null) return []
  const { budget, fault, needed, pausedSince } = refresh
  const forecast = await readForecast(database)
  const expected = forecast && describeForecast(forecast, budget)
  const mend = 'a larger REFRESH_BUDGET or a longer FRESHNESS_PROMISE, then collab-sync migrate'
  return [
    fault === null
      ? ok(
          'refresh',
          `a budget of ${budget} calls a second; the promise needs ${needed.toPrecision(3)}`,
        )
      : fail('refresh', fault, mend),
    ...(pausedSince === null
      ? []
      : [
          warn(
            'refresh',
            describePause(refresh),
            'mend what the reason names; it goes on by itself',
          ),
        ]),
    ...(expected === null ? [] : [ok('forecast', expected)]),
  ]
}
