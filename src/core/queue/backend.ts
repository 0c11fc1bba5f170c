import {
  assertSchemaCompatibility,
  createPostgresBackend,
  createRedisBackend,
  LATEST_SCHEMA_VERSION,
  runMigrations,
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
  withBackend,
} from 'bullmq'
import type { BackendClasses, IQueueBackend, RepeatOptions } from 'bullmq'
import { nextDue } from '../../base/cron.ts'
import { SchemaError } from '../../base/errors.ts'
import { openingFault } from '../database/connection-errors.ts'
import { openDatabase } from '../database/pool.ts'
import type { Database } from '../database/pool.ts'
import { isTracing } from '../../base/trace.ts'
import type { ConnectionWatch, RedisPlace } from './redis.ts'

/** Where BullMQ keeps its queue. */
export type QueuePlace =
  ({ readonly kind: 'redis' } & RedisPlace) | { readonly kind: 'postgres'; readonly url: string }

/**
 * `requests` has the jobs of other programs (docs/PROGRAMS.md) and the items of scoped runs; `everything` has the items
 * of all other runs, which use every job that a worker may have in progress. A full worker takes no other job, however urgent,
 * so that each queue has a worker of its own.
 */
export const QUEUE_NAMES = {
  requests: 'collab-sync',
  everything: 'collab-sync-everything',
} as const

export type QueueName = keyof typeof QUEUE_NAMES

/** The connection options of the two backends have no type in common. */
type Classes = BackendClasses<IQueueBackend, unknown>

/** Connections of one backend to the queue's PostgreSQL. */
const POSTGRES_POOL_MAX = 7
/** Those of a worker at least: its listener holds one of them. */
const POSTGRES_POOL_MIN = 2
const PROBE_MS = 1_000

/**
 * Opens a place for queues, or for one worker: BullMQ's constructors and the options that they need. This file alone knows
 * which place it is.
 * @param role a producer fails at once when Redis is unavailable; a worker waits for it
 * @param watch of the connections to Redis; those to PostgreSQL report their errors to BullMQ alone
 */
export async function openBackend(
  place: QueuePlace,
  role: 'producer' | 'worker',
  watch: ConnectionWatch,
) {
  // The modules for traces are loaded only where traces are made.
  const telemetry = isTracing() && { telemetry: (await import('./telemetry.ts')).quietTelemetry() }
  const shared = { ...telemetry, settings: { repeatStrategy } }
  if (place.kind === 'postgres') {
    // A pool of ours: those of BullMQ set their search path by a start-up parameter, which poolers refuse.
    const connection = openQueueDatabase(place.url, {
      min: role === 'worker' ? POSTGRES_POOL_MIN : 0,
      max: POSTGRES_POOL_MAX,
    })
    return {
      classes: withBackend(createPostgresBackend) as Classes,
      options: { ...shared, connection },
      /** Writes to the place, where that leaves nothing behind, else reads. May take forever. */
      probe: () => connection.query('select 1'),
      // After many jobs were added at once, PostgreSQL plans with the statistics of an empty table until autovacuum runs
      // (docs/decisions/2026-11-21-postgresql-queue-or-redis.md).
      analyze: () => connection.query('analyze bullmq.job'),
      /** Closes what BullMQ leaves open, after its own `close`. */
      close: () => connection.end(),
    }
  }
  const { openRedis } = await import('./redis.ts')
  const { url, prefix } = place
  const isWorker = role === 'worker'
  const connection = openRedis(
    url,
    isWorker
      ? { maxRetriesPerRequest: null }
      : { maxRetriesPerRequest: 1, enableOfflineQueue: false },
    watch,
  )
  return {
    classes: withBackend(createRedisBackend) as Classes,
    // The check calls INFO, which not every user may call; requireRedis checks the version where the user may.
    options: { ...shared, connection, prefix, skipVersionCheck: true },
    analyze: async () => {},
    probe: () => connection.set(`${prefix}:probe`, 1, 'PX', PROBE_MS),
    async close() {
      connection.disconnect()
    },
  }
}

function openQueueDatabase(url: string, options: Parameters<typeof openDatabase>[1]): Database {
  return openDatabase(url, { ...options, applicationName: 'queue', searchPath: 'bullmq' })
}

/**
 * Creates or upgrades the queue's own schema; nothing to do on Redis. Must come before any queue is opened: BullMQ's
 * PostgreSQL backend remembers a first connection that found none, for ever. Safe beside other machines doing the same.
 * @param signal stops it, also where PostgreSQL does not respond
 * @throws UsageError or EnvironmentError where the queue's PostgreSQL cannot be used, see openingFault
 */
export async function migrateQueue(place: QueuePlace, signal?: AbortSignal): Promise<void> {
  if (place.kind === 'redis') return
  const database = openQueueDatabase(place.url, { max: 1, signal })
  try {
    const client = await database.connect().catch((error: unknown) => {
      throw openingFault(database, error, 'QUEUE_DATABASE_URL')
    })
    try {
      // Checked first: the migration runs twelve statements and takes a lock even if there is nothing to do.
      const version = await assertSchemaCompatibility(client).catch((error: unknown) => {
        if (error instanceof SchemaMigrationRequiredError) return 0
        if (!(error instanceof SchemaVersionMismatchError)) throw error
        const message =
          'The tables of the queue were made by a newer version of collab-sync. Update this program.'
        throw new SchemaError(message, { isPending: false })
      })
      if (version < LATEST_SCHEMA_VERSION) await runMigrations(client)
    } finally {
      client.release()
    }
  } finally {
    await database.end()
  }
}

/**
 * Checks that the queue's Redis can be reached and used; nothing to do for PostgreSQL.
 * @throws EnvironmentError; UsageError for a prefix that does not fit a cluster
 */
export async function requireRedis(place: QueuePlace): Promise<void> {
  if (place.kind !== 'redis') return
  const { onRedis, redisInfo, requireVersion } = await import('./redis.ts')
  requireVersion(await onRedis(place, redisInfo))
}

/**
 * Computes when a job scheduler is due after a time, in milliseconds since 1970. A queue calls it when it adds a scheduler, a
 * worker when it takes a job of one; both need it, or they use BullMQ's own cron parser.
 * @throws Error for a pattern or a time zone that is not valid
 */
function repeatStrategy(afterMs: number, { pattern = '', tz = 'UTC' }: RepeatOptions): number {
  return nextDue({ cron: pattern, timeZone: tz }, new Date(afterMs)).getTime()
}
