import { readRefresh } from '../../client/freshness.ts'
import type { Database } from '../../core/database/pool.ts'
import { duration } from '../../documents/format.ts'
import { describePause } from '../refresh-details.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Continuous refresh: whether its budget keeps the promise and whether it is paused. Nothing where there is none. */
export async function checkRefresh(database: Database): Promise<Finding[]> {
  const refresh = await readRefresh(database)
  if (refresh === null) return []
  const { boundS, budget, fault, pausedSince } = refresh
  const mend = 'a larger REFRESH_BUDGET or a longer FRESHNESS_PROMISE, then collab-sync migrate'
  return [
    fault === null
      ? ok(
          'refresh',
          `a budget of ${budget} calls a second looks at everything within ${duration(boundS * 1000)}`,
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
  ]
}
