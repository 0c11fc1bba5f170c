import type { RowOf } from '../database/statement.ts'
import type * as workers from '../database/statements/workers.ts'
import { time } from '../format.ts'

/** A worker that has had a problem for more than a minute, in a sentence or two. */
export function describeBlocked({
  workerId,
  problem,
  problemSince,
}: RowOf<typeof workers.blocked>): string {
  return `Worker ${workerId} has not been able to work since ${time(problemSince)}. ${problem}`
}
