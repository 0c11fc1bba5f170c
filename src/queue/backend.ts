import { createPostgresBackend, createRedisBackend, runMigrations, withBackend } from 'bullmq'
import type { BackendClasses, IQueueBackend, Telemetry } from 'bullmq'
import type { Redis } from 'ioredis'
import { openDatabase, openingFault } from '../database/pool.ts'
import type { Database } from '../database/pool.ts'
import { EnvironmentError } from '../errors.ts'
import { isTracing } from '../trace.ts'

/** Where BullMQ keeps its queue. */
export type QueuePlace =
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }
  | { readonly kind: 'postgres'; readonly url: string }

/**
 * `requests` has what programs ask for (contract.md, "The queue") and the items of narrow runs; `everything` has the items of
 * runs of everything, which take up each job that may be in hand: a worker that has its fill looks for no other job, however
 * urgent, so that the two have workers of their own.
 */
export const QUEUE_NAMES = {
  requests: 'collab-sync',
  everything: 'collab-sync-everything',
} as const

export type QueueName = keyof typeof QUEUE_NAMES

/** BullMQ's constructors on one place, and the options they need; the only file that knows which place it is. */
export interface Backend {
  // The two backends' connection options have no type in common.
  readonly classes: BackendClasses<IQueueBackend, unknown>
  readonly producer: { connection: unknown; prefix?: string }
  readonly worker: { connection: unknown; prefix?: string }
  /** Closes what BullMQ leaves open, after its own `close`. */
  close(): Promise<void>
}

/** Connections of one backend to the queue's PostgreSQL: a worker's listener holds one of them. */
const POSTGRES_POOL_MAX = 7

/** Opens a place for queues, or for one worker. */
export function openBackend(place: QueuePlace): Backend {
  if (place.kind === 'postgres') {
    // A pool of ours: those of BullMQ say their search path in a start-up parameter, which poolers refuse.
    const connection = openQueueDatabase(place.url, POSTGRES_POOL_MAX)
    return {
      classes: withBackend(createPostgresBackend) as BackendClasses<IQueueBackend, unknown>,
      producer: { connection },
      worker: { connection },
      close: () => connection.end(),
    }
  }
  const { url, prefix } = place
  return {
    classes: withBackend(createRedisBackend) as BackendClasses<IQueueBackend, unknown>,
    // A producer says at once that Redis is away; a worker waits for it to come back.
    producer: { connection: { url, maxRetriesPerRequest: 1, enableOfflineQueue: false }, prefix },
    worker: { connection: { url, maxRetriesPerRequest: null }, prefix },
    close: async () => {},
  }
}

function openQueueDatabase(url: string, max: number, signal?: AbortSignal): Database {
  return openDatabase(url, { max, applicationName: 'queue', searchPath: 'bullmq', signal })
}

/**
 * Creates or upgrades the queue's own schema; nothing to do on Redis. Must come before any queue is opened: BullMQ's
 * PostgreSQL backend remembers a first connection that found none, for ever. Safe beside other machines doing the same.
 * @param signal gives it up, also where PostgreSQL does not answer
 * @throws UsageError or EnvironmentError where the queue's PostgreSQL cannot be used, see openingFault
 */
export async function migrateQueue(place: QueuePlace, signal?: AbortSignal): Promise<void> {
  if (place.kind === 'redis') return
  const database = openQueueDatabase(place.url, 1, signal)
  try {
    const client = await database.connect().catch((error: unknown) => {
      throw openingFault(database, error, 'QUEUE_DATABASE_URL')
    })
    await runMigrations(client).finally(() => client.release())
  } finally {
    await database.end()
  }
}

/**
 * Refreshes the planner's statistics after many jobs were added at once: with those of an empty table the queue serves
 * 60 jobs a second instead of 1,500 until autovacuum comes by. Nothing to do on Redis.
 */
export async function refreshStatistics(place: QueuePlace): Promise<void> {
  if (place.kind === 'redis') return
  const database = openQueueDatabase(place.url, 1)
  try {
    await database.query('analyze bullmq.job')
  } finally {
    await database.end()
  }
}

const REDIS_CONNECT_MS = 5_000

/**
 * Connects to Redis once for `work`: BullMQ would try for ever, and a person wants to know at once.
 * @param patienceMs how long it may take to connect, and each command
 * @throws EnvironmentError where Redis cannot be reached or refuses us; what `work` throws
 */
export async function onRedis<T>(
  url: string,
  work: (redis: Redis) => Promise<T>,
  patienceMs = REDIS_CONNECT_MS,
): Promise<T> {
  const { Redis: Connection } = await import('ioredis')
  const redis = new Connection(url, {
    lazyConnect: true,
    connectTimeout: patienceMs,
    commandTimeout: patienceMs,
    // What it waits for before it gives up a connection that never was.
    disconnectTimeout: 100,
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

/** BullMQ's option for traces; what it needs is loaded only where traces are made. */
export async function telemetryOption(): Promise<{ telemetry?: Telemetry }> {
  if (!isTracing()) return {}
  const { quietTelemetry } = await import('./telemetry.ts')
  return { telemetry: quietTelemetry() }
}
