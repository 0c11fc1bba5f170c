import { budgetFault, leastBudget } from '../core/database/definitions.ts'
import type { Database } from '../core/database/pool.ts'
import * as refresh from '../core/database/statements/refresh.ts'
import * as scopes from '../core/database/statements/scopes.ts'
import type { Freshness, Refresh } from '../schemas/freshness.ts'
import { EVERYTHING, weights } from '../features/refresh/classes.ts'

/** The age of the data, and the state of continuous refresh. */
export async function readFreshness(database: Database): Promise<Freshness> {
  return { ...(await scopes.freshness.one(database)), refresh: await readRefresh(database) }
}

/** @returns null if continuous refresh is off */
async function readRefresh(database: Database): Promise<Refresh | null> {
  const state = await refresh.state.one(database)
  const { refreshBudget: budget, promiseS } = state
  if (budget === null) return null
  const rows = await refresh.classes.all(database)
  const known = rows.map(({ scopes: threads, learnedFound: found, learnedGapS: gapS }) => {
    return { threads, found, gapS }
  })
  const planned = weights(known, { budget, promiseS })
  const all = planned.reduce((sum, weight) => sum + weight, 0)
  const freshnessPromiseMs = promiseS * 1000
  const needed = leastBudget(rows[EVERYTHING]?.scopes ?? 0, promiseS)
  return {
    budget,
    used: state.callsLastHour === null ? null : state.callsLastHour / 3600,
    needed,
    boundS: (promiseS * needed) / budget,
    fault: await budgetFault(database, { freshnessPromiseMs, refreshBudget: budget }),
    targetS: state.changeTargetS,
    pausedSince: state.pausedSince,
    pausedUntil: state.pausedUntil,
    pauseReason: state.reason,
    classes: rows.map(({ learnedFound: _found, learnedGapS: _gapS, ...row }, of) => ({
      ...row,
      plannedShare: all === 0 ? null : (planned[of] ?? 0) / all,
    })),
    delays: await refresh.delays.all(database),
  }
}
