import { DEAD_AFTER_S } from '../database/claims.ts'
import type { On, RowOf } from '../database/statement.ts'
import * as workers from '../database/statements/workers.ts'
import type { Log } from '../../base/log.ts'
import type { RateLimiter } from './limiter.ts'
import { pauseOf } from './pace.ts'

const NAMES_SHOWN = 3

/** Says which processes set which limit. @param limits the lowest first */
function describeDiffering(limits: readonly RowOf<typeof workers.rateLimits>[]): string {
  const parts = limits.map(({ rateLimit, workerIds }) => {
    const names = workerIds.slice(0, NAMES_SHOWN).join(', ')
    const more = workerIds.length - NAMES_SHOWN
    return `${rateLimit ?? 'none'} (${names}${more > 0 ? ` and ${more} more` : ''})`
  })
  return `SYNC_RATE_LIMIT differs: ${parts.join('; ')}. The lowest that a live worker sets holds for all of them.`
}

/**
 * Keeps the limiter of a process at the lowest of its own limit, those of the live workers and the pace that a user set, and at
 * the pause that a user ordered. Logs when workers begin or cease to differ, and when a pause begins or ends.
 * @param own `SYNC_RATE_LIMIT` of this process in calls a second; null for none
 * @returns reads and applies them; throws pg.DatabaseError, and the limiter stays as it is
 */
export function followLimits(
  limiter: RateLimiter,
  own: number | null,
  log: Log,
): (on: On) => Promise<void> {
  let known = String(own)
  let isPaused = false
  return async (on) => {
    const limits = await workers.rateLimits.all(on, { deadAfterS: DEAD_AFTER_S, own })
    const [first] = limits
    // There is always a row: this process has one, or its limit is that of a worker.
    if (first === undefined) return
    const { rateLimit: lowest, pace, pauseMs } = first
    limiter.isPace = pace !== null && (lowest === null || pace < lowest)
    limiter.callsPerSecond = limiter.isPace ? pace : lowest
    const pause = pauseOf(first)
    limiter.operatorPause.apply(pause && { ...pause, ms: pauseMs ?? 0 })
    if (isPaused !== (pause !== null))
      log.warn(pause ?? {}, pause === null ? 'the calls are resumed' : 'the calls are paused')
    isPaused = pause !== null
    const found = limits.map(({ rateLimit }) => String(rateLimit)).join()
    if (found === known) return
    known = found
    if (limits.length < 2) log.info({ lowest }, 'SYNC_RATE_LIMIT no longer differs')
    else log.warn({ lowest }, describeDiffering(limits))
  }
}
