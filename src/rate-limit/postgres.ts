import type { Pool } from 'pg'
import type { On } from '../database/statement.ts'
import * as rateLimit from '../database/statements/rate-limit.ts'
import { MAX_PAUSE_MS, maxAheadMs, RateLimiter } from './limiter.ts'
import type { RateLimitOptions, RateLimitStore, Spacing, Taken } from './limiter.ts'

/**
 * The rate of all processes that reach one PostgreSQL, in one row of `sync.pace`, by the server's clock.
 * For why this is no library, see `redis.ts`.
 * @param pool stays the caller's, who closes it
 */
export function openPostgresRateLimit(
  pool: Pool,
  name: string,
  options: RateLimitOptions,
): RateLimiter {
  return new RateLimiter(new PostgresStore(pool, name), options)
}

/** Writes to the store of a limit, and changes nothing. @throws what PostgreSQL answers */
export async function tryPostgresRateLimit(on: On, name: string): Promise<void> {
  await rateLimit.pause.run(on, { name, pauseMs: 0, longestMs: MAX_PAUSE_MS })
}

class PostgresStore implements RateLimitStore {
  readonly #pool: Pool
  readonly #name: string

  constructor(pool: Pool, name: string) {
    this.#pool = pool
    this.#name = name
  }

  async take(slots: number, spacing: Spacing): Promise<Taken> {
    return rateLimit.take.one(this.#pool, {
      name: this.#name,
      slotsMs: slots * spacing.intervalMs,
      catchUpMs: spacing.toleranceMs,
      furthestSlotMs: maxAheadMs(slots, spacing),
      furthestPauseMs: MAX_PAUSE_MS,
    })
  }

  async pause(pauseMs: number): Promise<void> {
    await rateLimit.pause.run(this.#pool, { name: this.#name, pauseMs, longestMs: MAX_PAUSE_MS })
  }

  async pauseMs(): Promise<number> {
    const row = await rateLimit.read.first(this.#pool, {
      name: this.#name,
      longestMs: MAX_PAUSE_MS,
    })
    return row?.pauseMs ?? 0
  }
}
