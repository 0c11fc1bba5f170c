import type { Pool } from 'pg'
import type { SharedPace } from '../collab-api/shared-pace.ts'
import { sql } from '../database/sql.ts'
import { Paced } from './paced.ts'
import type { PaceOptions } from './paced.ts'
import { MAX_AHEAD_MS, MAX_PAUSE_MS } from './store.ts'
import type { PaceStore, Spacing, Taken } from './store.ts'

/**
 * The pace of all processes that reach one PostgreSQL, in one row of `sync.pace`, by the server's clock.
 * For why this is no library, see `redis.ts`.
 * @param pool stays the caller's, who closes it
 */
export function openPostgresPace(pool: Pool, name: string, options: PaceOptions): SharedPace {
  return new Paced(new PostgresStore(pool, name), options)
}

class PostgresStore implements PaceStore {
  readonly #pool: Pool
  readonly #name: string

  constructor(pool: Pool, name: string) {
    this.#pool = pool
    this.#name = name
  }

  async take(slots: number, { intervalMs, toleranceMs }: Spacing): Promise<Taken> {
    const { rows } = await this.#pool.query<{ pause_ms: number; wait_ms: number }>({
      name: 'pace/take',
      text: sql('pace/take'),
      values: [this.#name, slots * intervalMs, toleranceMs, MAX_AHEAD_MS, MAX_PAUSE_MS],
    })
    return { pauseMs: rows[0]?.pause_ms ?? 0, waitMs: rows[0]?.wait_ms ?? 0 }
  }

  async pause(ms: number): Promise<void> {
    await this.#pool.query({
      name: 'pace/pause',
      text: sql('pace/pause'),
      values: [this.#name, ms, MAX_PAUSE_MS],
    })
  }

  async pauseMs(): Promise<number> {
    const { rows } = await this.#pool.query<{ pause_ms: number }>({
      name: 'pace/read',
      text: sql('pace/read'),
      values: [this.#name, MAX_PAUSE_MS],
    })
    return rows[0]?.pause_ms ?? 0
  }
}
