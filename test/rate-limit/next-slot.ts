import { Redis } from 'ioredis'
import { RATE_LIMIT_NAME } from '../../src/core/rate-limit/limiter.ts'
import type { Live } from '../helpers/live.ts'

/** Milliseconds between two slots of a limit, which workers use to 98.5 %. */
export function slotMs(callsPerSecond: number): number {
  return 1000 / (callsPerSecond * 0.985)
}

/** When the next slot of the rate of all calls is free, in milliseconds by the clock of the store; 0 before the first. */
export async function nextSlotMs({ database, environment }: Live): Promise<number> {
  if (environment['REDIS_URL'] === undefined) {
    const { rows } = await database.pool.query<{ ms: number }>(
      'select extract(epoch from next_at)::float8 * 1000 as ms from sync.rate_limit_slots where name = $1',
      [RATE_LIMIT_NAME],
    )
    return rows[0]?.ms ?? 0
  }
  const redis = new Redis(environment['REDIS_URL'])
  const next = await redis.hget(`${environment['QUEUE_PREFIX']}:${RATE_LIMIT_NAME}`, 'next')
  redis.disconnect()
  return Number(next)
}
