import type { Pool } from 'pg'
import type { On } from '../database/statement.ts'
import * as rateLimit from '../database/statements/rate-limit.ts'
import { MAX_PAUSE_MS, maxAheadMs, RateLimiter } from './limiter.ts'
import type { RateLimitOptions, RateLimitStore } from './limiter.ts'

/**
 * Opens the rate of all processes that share one PostgreSQL, in one row of `sync.pace`: GCRA by the clock of the server. Why
 * this is no library: see `redis.ts`.
 * @param pool closed by the caller
 */
export function openPostgresRateLimit(
  pool: Pool,
  name: string,
  options: RateLimitOptions,
): RateLimiter {
  return new RateLimiter(storeIn(pool, name), options)
}

/** Writes to the store of a limit, and changes nothing. @throws what PostgreSQL answers */
export async function tryPostgresRateLimit(on: On, name: string): Promise<void> {
  await rateLimit.pause.run(on, { name, pauseMs: 0, longestMs: MAX_PAUSE_MS })
}

function storeIn(pool: Pool, name: string): RateLimitStore {
  const longestMs = MAX_PAUSE_MS
  return {
    take: (slots, spacing) =>
      rateLimit.take.one(pool, {
        name,
        slotsMs: slots * spacing.intervalMs,
        catchUpMs: spacing.toleranceMs,
        furthestSlotMs: maxAheadMs(slots, spacing),
        furthestPauseMs: longestMs,
      }),
    async pause(pauseMs) {
      await rateLimit.pause.run(pool, { name, pauseMs, longestMs })
    },
    pauseMs: async () => (await rateLimit.read.first(pool, { name, longestMs }))?.pauseMs ?? 0,
  }
}
