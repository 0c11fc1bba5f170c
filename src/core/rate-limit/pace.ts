import { DEAD_AFTER_S } from '../database/claims.ts'
import * as pace from '../database/statements/pace.ts'
import type { On, RowOf } from '../database/statement.ts'
import type { Pace } from '../../schemas/pace.ts'

/** Reads the pace and the pause that users set, and the limit that the pace cannot exceed. */
export async function readPace(on: On): Promise<Pace> {
  const row = await pace.read.one(on, { deadAfterS: DEAD_AFTER_S })
  const { callsPerSecond, setAt, setBy, lowestRateLimit } = row
  return { callsPerSecond, setAt, setBy, lowestRateLimit, pause: pauseOf(row) }
}

/** The pause in a row with the columns of sync.current_pause; null without one. */
export function pauseOf(
  row: Pick<RowOf<typeof pace.read>, 'pausedAt' | 'pausedUntil' | 'pausedBy' | 'reason'>,
): Pace['pause'] {
  const { pausedAt: since, pausedUntil: until, pausedBy: by, reason } = row
  return since && until && by ? { since, until, by, reason } : null
}
