import { DEAD_AFTER_S } from '../database/claims.ts'
import type { On, RowOf } from '../database/statement.ts'
import * as workers from '../database/statements/workers.ts'
import type { Log } from '../log.ts'
import type { RateLimiter } from './limiter.ts'

/** A limit in calls a second (null for none) and who sets it in `SYNC_RATE_LIMIT`. */
export type LimitOf = RowOf<typeof workers.rateLimits>

const NAMES_SHOWN = 3

/** Who sets which limit, in two sentences; null where all set the same. @param limits the lowest first */
export function describeDiffering(limits: readonly LimitOf[]): string | null {
  if (limits.length < 2) return null
  const parts = limits.map(({ rateLimit, workerIds }) => {
    const names = workerIds.slice(0, NAMES_SHOWN).join(', ')
    const more = workerIds.length - NAMES_SHOWN
    return `${rateLimit ?? 'none'} (${names}${more > 0 ? ` and ${more} more` : ''})`
  })
  return `SYNC_RATE_LIMIT differs: ${parts.join('; ')}. The lowest that a live worker sets holds for all of them.`
}

/**
 * Keeps a process's limiter at the lowest limit of the live workers and its own, and logs when workers begin or cease to
 * differ.
 * @param own `SYNC_RATE_LIMIT` of this process, calls a second; null for none
 * @returns reads the limits and takes over the lowest; throws pg.DatabaseError, and the limit then stays as it is
 */
export function followLowest(
  limiter: RateLimiter,
  own: number | null,
  log: Log,
): (on: On) => Promise<void> {
  let known = String(own)
  return async (on) => {
    const limits = await workers.rateLimits.all(on, {
      deadAfterS: DEAD_AFTER_S,
      own,
      name: 'this process',
    })
    const lowest = limits[0]?.rateLimit ?? null
    limiter.useLimit(lowest)
    const found = limits.map(({ rateLimit }) => String(rateLimit)).join()
    if (found === known) return
    known = found
    const differing = describeDiffering(limits)
    if (differing === null) log.info({ lowest }, 'SYNC_RATE_LIMIT no longer differs')
    else log.warn({ lowest }, differing)
  }
}
