import { DEAD_AFTER_S } from '../database/claims.ts'
import * as pace from '../database/statements/pace.ts'
import type { On } from '../database/statement.ts'
import type { Pace } from '../../schemas/pace.ts'

/** Reads the pace and the pause that users set, and the limit that the pace cannot exceed. */
export async function readPace(on: On): Promise<Pace> {
  const row = await pace.read.one(on, { deadAfterS: DEAD_AFTER_S })
  const { callsPerSecond, setAt, setBy, lowestRateLimit, pausedAt, pausedUntil, pausedBy } = row
  const pause =
    pausedAt && pausedUntil && pausedBy
      ? { since: pausedAt, until: pausedUntil, by: pausedBy, reason: row.reason }
      : null
  return { callsPerSecond, setAt, setBy, lowestRateLimit, pause }
}
