import { RECENT_S } from '../../database/scopes.ts'
import type { On } from '../../database/statement.ts'
import * as refresh from '../../database/statements/refresh.ts'
import type { Forecast, ForecastRow } from '../../documents/freshness.ts'
import type { Promised } from './classes.ts'
import { looksAPage } from './classes.ts'
import { replay } from './replay.ts'
import type { PastThread } from './replay.ts'

const DAY_S = 86_400
const REPLAYED_S = 14 * DAY_S
/** What is learned halves in a day: after three little is left of what was assumed. */
const WARM_S = 3 * DAY_S
const THREADS = 20_000
/** A document may have any number of threads: no more than this are read. */
const THREADS_MAX = 2 * THREADS
/** Looks of one replay: a larger budget is tried on fewer of the threads. */
const LOOKS_MAX = 2_000_000
const THREADS_MIN = 500
const PLANNED_S = 10
const FACTORS = [0.5, 1, 2, 4]

/** The catalog that a sample stands for, and what is promised of it. */
export interface Forecasting extends Promised {
  readonly annotations: number
  /** Annotations, and listings of users. */
  readonly scopes: number
  readonly targetS: number
}

/**
 * What to expect of budgets: the last 14 days of a sample of documents with about 20,000 threads, looked at as the planner
 * would have. It repeats the past: additions and edits only, since nobody knows when something was deleted.
 * @returns null where there is no annotation to look at
 */
export async function readForecast(on: On): Promise<Forecast | null> {
  const { at } = await refresh.begin.one(on)
  const { refreshBudget, promiseS, changeTargetS: targetS } = await refresh.state.one(on)
  const { scopes: annotations } = await refresh.countScopes.one(on, { operations: ['comments'] })
  const { scopes } = await refresh.countScopes.one(on, { operations: ['users', 'comments'] })
  if (annotations === 0) return null
  const sample = await refresh.sample.all(on, {
    share: Math.min(1, THREADS / annotations),
    since: new Date(at.getTime() - REPLAYED_S * 1000),
    fromS: -WARM_S - RECENT_S,
    limit: THREADS_MAX,
  })
  const budget = refreshBudget ?? scopes / DAY_S
  const rows = FACTORS.map((factor) =>
    forecast(sample, { budget: factor * budget, promiseS, annotations, scopes, targetS }),
  )
  return { days: REPLAYED_S / DAY_S, threads: sample.length, targetS, rows }
}

/** What a budget would have given over the last 14 days. */
export function forecast(sample: readonly PastThread[], of: Forecasting): ForecastRow {
  const { annotations, budget, promiseS, scopes, targetS } = of
  const looks = (threads: number) => ((REPLAYED_S + WARM_S) * budget * threads) / annotations
  const most = Math.max(THREADS_MIN, Math.floor((sample.length * LOOKS_MAX) / looks(sample.length)))
  const threads = sample.slice(0, most)
  const part = threads.length / annotations
  // More calls than this would be no news: each thread is looked at within minutes.
  const replayed = Math.min(budget * part, LOOKS_MAX / (REPLAYED_S + WARM_S))
  const { delays, everythingS } = replay(threads, {
    budget: replayed,
    promiseS,
    others: Math.round((scopes - annotations) * part),
    untilS: REPLAYED_S,
    warmS: WARM_S,
    looksAPage: Math.max(
      1,
      Math.round(Math.max(looksAPage({ budget, promiseS }) * part, replayed * PLANNED_S)),
    ),
  })
  const { length } = delays
  const quantile = (share: number) =>
    delays[Math.min(length - 1, Math.floor(share * length))] ?? null
  return {
    callsPerSecond: budget,
    passesADay: (budget * DAY_S) / scopes,
    changes: length,
    withinTarget: length === 0 ? null : delays.filter((each) => each <= targetS).length / length,
    p50S: quantile(0.5),
    p95S: quantile(0.95),
    everythingWithinS: (everythingS * replayed) / (budget * part),
  }
}
