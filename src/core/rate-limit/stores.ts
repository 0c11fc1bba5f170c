import type { Redis } from 'ioredis'
import type { On } from '../database/statement.ts'
import * as rateLimit from '../database/statements/rate-limit.ts'
import { MAX_PAUSE_MS, maxAheadMs } from './limiter.ts'
import type { RateLimitStore } from './limiter.ts'

/* GCRA by the clock of the store. Why it is our own: docs/decisions/2026-11-21-own-rate-limiter.md. */

/** The rate of all processes that share one PostgreSQL, in one row of `sync.rate_limit_slots`. @param on closed by the caller */
export function postgresStore(on: On, name: string): RateLimitStore {
  const longestMs = MAX_PAUSE_MS
  return {
    server: 'PostgreSQL',
    take: (slots, spacing) =>
      rateLimit.take.one(on, {
        name,
        slotsMs: slots * spacing.intervalMs,
        catchUpMs: spacing.toleranceMs,
        furthestSlotMs: maxAheadMs(slots, spacing),
        furthestPauseMs: longestMs,
      }),
    async pause(pauseMs) {
      await rateLimit.pause.run(on, { name, pauseMs, longestMs })
    },
    pauseMs: async () => (await rateLimit.read.first(on, { name, longestMs }))?.pauseMs ?? 0,
  }
}

/** The rate of all processes that share one Redis, under one key, by one script a group of slots. @param redis closed by the caller */
export function redisStore(redis: Redis, key: string): RateLimitStore {
  return {
    server: 'Redis',
    async take(slots, spacing) {
      const { intervalMs, toleranceMs } = spacing
      const limits = [slots * intervalMs, toleranceMs, maxAheadMs(slots, spacing)]
      const [pauseMs, waitMs] = (await redis.eval(TAKE, 1, key, ...limits)) as [string, string]
      return { pauseMs: Number(pauseMs), waitMs: Number(waitMs) }
    },
    async pause(ms) {
      await redis.eval(PAUSE, 1, key, ms)
    },
    pauseMs: async () => Number(await redis.eval(PAUSE_MS, 1, key)),
  }
}

/** Milliseconds since 1970 by the clock of Redis, and what is left of a pause, unless the clock was set back. */
const READ = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local paused = tonumber(redis.call('HGET', KEYS[1], 'paused_until') or 0) - now
if paused < 0 or paused > ${MAX_PAUSE_MS} then paused = 0 end
`
/** An unused key expires long after any slot or pause in it has passed. */
const KEEP = `redis.call('PEXPIRE', KEYS[1], ${2 * MAX_PAUSE_MS})`

const TAKE = `${READ}
if paused > 0 then return { tostring(paused), '0' } end
local next = tonumber(redis.call('HGET', KEYS[1], 'next') or 0)
if next > now + tonumber(ARGV[3]) then next = 0 end
local first = math.max(next, now - tonumber(ARGV[2]))
redis.call('HSET', KEYS[1], 'next', string.format('%.3f', first + tonumber(ARGV[1])))
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
