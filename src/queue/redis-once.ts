import type { Redis } from 'ioredis'
import { EnvironmentError } from '../errors.ts'
import type { QueuePlace } from './backend.ts'

const CONNECT_MS = 5_000

/**
 * Connects to Redis once for `work`: BullMQ would try for ever, and a person wants to know at once.
 * @throws EnvironmentError where Redis cannot be reached or refuses us; what `work` throws
 */
export async function onRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const { Redis: Connection } = await import('ioredis')
  const redis = new Connection(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  })
  let reason = ''
  redis.on('error', (error: Error) => (reason = error.message))
  try {
    await redis.connect()
    await redis.ping()
  } catch (error) {
    redis.disconnect()
    throw new EnvironmentError(
      `Redis cannot be used: ${reason || (error as Error).message}. Is it running, and is REDIS_URL right?`,
      { cause: error },
    )
  }
  try {
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

/** Looks whether the queue's Redis is there; nothing to do for PostgreSQL. @throws EnvironmentError */
export async function requireRedis(place: QueuePlace): Promise<void> {
  if (place.kind === 'redis') await onRedis(place.url, async () => {})
}
