import type { RowOf } from '../database/statement.ts'
import type { nightly } from '../database/statements/notify.ts'

/** Scheduled runs, as far as they tell whether the nightly one is there and in time. */
export type NightlyRuns = RowOf<typeof nightly>

/** Fewer past runs tell nothing of how long one usually takes. */
const USUAL_OF_MIN = 3
/** A run that takes half as long again as usual is not late yet. */
const USUAL_FACTOR = 1.5

/**
 * Whether the run that was due did not begin. One before it that is still under way is late rather than missing, and a
 * schedule that came later than the due time asked for nothing.
 */
export function isMissed(runs: NightlyRuns, dueAt: Date, scheduleSince: Date): boolean {
  return !runs.began && runs.runId === null && dueAt >= scheduleSince
}

/** A nightly run beyond its usual time. */
export interface LateRun {
  readonly runId: string
  readonly requestedAt: Date
  readonly runningS: number
  readonly usualS: number
}

/** The run under way, where it is beyond its usual time by half of it and by `lateAfterMs`. */
export function lateRun(
  { runId, requestedAt, runningS, usualS, usualOf }: NightlyRuns,
  lateAfterMs: number,
): LateRun | null {
  if (runId === null || requestedAt === null || runningS === null) return null
  if (usualS === null || usualOf < USUAL_OF_MIN) return null
  const isLate = runningS > usualS * USUAL_FACTOR + lateAfterMs / 1000
  return isLate ? { runId, requestedAt, runningS, usualS } : null
}
