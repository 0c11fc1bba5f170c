import type { Redis } from 'ioredis'
import { MAX_PAUSE_MS, maxAheadMs, RateLimiter } from './limiter.ts'
import type { RateLimitOptions, RateLimitStore, Spacing, Taken } from './limiter.ts'

/**
 * The rate of all processes that reach one Redis, under one key.
 *
 * Not rate-limiter-flexible: its Redis window starts with its first call and lasts whole seconds, so a
 * sliding second can hold twice the limit; its PostgreSQL window compares the machines' own clocks; and
 * it knows no pause. This is GCRA, one small script a group of slots, by the clock of Redis.
 * @param redis stays the caller's, who closes it
 */
export function openRedisRateLimit(
  redis: Redis,
  key: string,
  options: RateLimitOptions,
): RateLimiter {
  return new RateLimiter(new RedisStore(redis, key), options)
}

/** Writes to the store of a limit, and changes nothing. @throws what Redis answers */
export async function tryRedisRateLimit(redis: Redis, key: string): Promise<void> {
  await new RedisStore(redis, key).pause(0)
}

/** Milliseconds since 1970 as Redis tells them, and what is left of a pause, unless a clock was set back. */
const READ = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local paused = tonumber(redis.call('HGET', KEYS[1], 'paused_until') or 0) - now
if paused < 0 or paused > ${MAX_PAUSE_MS} then paused = 0 end
`
/** A key that nobody uses goes away; long after any slot or pause in it has passed. */
const KEEP = `redis.call('PEXPIRE', KEYS[1], ${2 * MAX_PAUSE_MS})`

const TAKE = `${READ}
if paused > 0 then return { tostring(paused), '0' } end
local next = tonumber(redis.call('HGET', KEYS[1], 'next') or 0)
if next > now + tonumber(ARGV[4]) then next = 0 end
local first = math.max(next, now - tonumber(ARGV[3]))
local after = first + tonumber(ARGV[1]) * tonumber(ARGV[2])
redis.call('HSET', KEYS[1], 'next', string.format('%.3f', after))
${KEEP}
return { '0', string.format('%.3f', first - now) }
`
const PAUSE = `${READ}
local longer = math.max(paused, tonumber(ARGV[1]))
redis.call('HSET', KEYS[1], 'paused_until', string.format('%.3f', now + longer))
${KEEP}
`
const PAUSE_MS = `${READ}
return tostring(paused)
`

class RedisStore implements RateLimitStore {
  readonly #redis: Redis
  readonly #key: string

  constructor(redis: Redis, key: string) {
    this.#redis = redis
    this.#key = key
  }

  async take(slots: number, spacing: Spacing): Promise<Taken> {
    const [pauseMs, waitMs] = (await this.#redis.eval(
      TAKE,
      1,
      this.#key,
      slots,
      spacing.intervalMs,
      spacing.toleranceMs,
      maxAheadMs(slots, spacing),
    )) as [string, string]
    return { pauseMs: Number(pauseMs), waitMs: Number(waitMs) }
  }

  async pause(ms: number): Promise<void> {
    await this.#redis.eval(PAUSE, 1, this.#key, ms)
  }

  async pauseMs(): Promise<number> {
    return Number(await this.#redis.eval(PAUSE_MS, 1, this.#key))
  }
}
