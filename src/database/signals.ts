import { DEAD_AFTER_S } from './claims.ts'
import type { Database } from './pool.ts'
import type { RowOf } from './statement.ts'
import * as signals from './statements/signals.ts'

/** What metrics tell of PostgreSQL. */
export interface StoredSignals {
  readonly totals: readonly RowOf<typeof signals.runTotals>[]
  readonly lastRuns: readonly RowOf<typeof signals.lastRuns>[]
  readonly state: RowOf<typeof signals.state>
}

/**
 * Three statements over small tables.
 * @param refusal how the problem of a run begins whose credentials were refused
 */
export async function readSignals(database: Database, refusal: string): Promise<StoredSignals> {
  const totals = await signals.runTotals.all(database)
  const lastRuns = await signals.lastRuns.all(database, { refusal })
  const state = await signals.state.one(database, { deadAfterS: DEAD_AFTER_S })
  return { totals, lastRuns, state }
}
