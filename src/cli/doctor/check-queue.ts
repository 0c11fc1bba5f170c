import { openingFault } from '../../core/database/connection-errors.ts'
import { openDatabase } from '../../core/database/pool.ts'
import * as server from '../../core/database/statements/server.ts'
import { EnvironmentError, UsageError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { QueuePlace } from '../../core/queue/backend.ts'
import { inTime, openQueue, refusalOf } from '../../core/queue/queue.ts'
import { onRedis, redisInfo, requireVersion } from '../../core/queue/redis.ts'
import type { RedisPlace } from '../../core/queue/redis.ts'
import { RATE_LIMIT_NAME } from '../../core/rate-limit/limiter.ts'
import { redisStore } from '../../core/rate-limit/stores.ts'
import { broken, fail, guarded, isAway, next, ok, PATIENCE_MS, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Checks the connection, version, memory and persistence of the queue, adds and removes a job, and writes the rate limit. */
export async function checkQueue(place: QueuePlace, log: Log): Promise<Finding[]> {
  const found = await guarded('queue', () =>
    place.kind === 'redis' ? checkRedis(place) : checkPostgresQueue(place.url),
  )
  if (found.some(({ check, state }) => check === 'queue' && state !== 'ok')) return found
  return [...found, await checkJobs(place, log)]
}

/** No worker takes the job for a minute. If doctor is killed, a worker removes it. */
const TRIED_JOB = {
  jobId: `doctor-${process.pid}`,
  delay: 60_000,
  removeOnComplete: true,
  removeOnFail: true,
}

async function checkJobs(place: QueuePlace, log: Log): Promise<Finding> {
  const opening = openQueue(place, log)
  const tryJobs = async () => {
    for (const bull of Object.values((await opening).bull))
      await (await bull.add('doctor', {}, TRIED_JOB)).remove()
    if (place.kind === 'postgres') return
    const key = `${place.prefix}:${RATE_LIMIT_NAME}`
    await onRedis(place, (redis) => redisStore(redis, key).pause(0), PATIENCE_MS)
  }
  try {
    await inTime(tryJobs(), PATIENCE_MS)
    return ok('jobs', 'a job was added to each queue and removed')
  } catch (error) {
    return refused(error)
  } finally {
    // It breaks the connections, which would keep the process. A server that stopped responding must not delay doctor.
    const closing = opening.then((queue) => queue.close())
    await inTime(closing, CLOSE_MS).catch(() => {})
  }
}

function refused(error: unknown): Finding {
  if (error instanceof EnvironmentError || error instanceof UsageError || isAway(error))
    return broken('jobs', error)
  const message = refusalOf(error)
  const known = FIXES.find(([code]) => message.includes(code))?.[1]
  return fail(
    'jobs',
    `the queue refuses writes: ${message}`,
    known ?? 'check the log of that server',
  )
}

const CLOSE_MS = 500

const FIXES: readonly [code: string, fix: string][] = [
  ['READONLY', 'this Redis is a replica: set REDIS_URL to the address of the primary'],
  ['OOM', 'Redis is at its maxmemory: raise it, or remove other data'],
  ['MISCONF', 'Redis cannot save to its disk: check its log'],
  ['NOREPLICAS', 'Redis has too few replicas: see min-replicas-to-write'],
  ['NOPERM', 'grant the user of REDIS_URL all commands except dangerous ones: +@all -@dangerous'],
  ['read-only transaction', 'set QUEUE_DATABASE_URL to the primary'],
]

const POSTGRES_IS_ENOUGH =
  'the queue is in PostgreSQL, which is sufficient for a few machines with synchronized clocks (NTP) and about 1,000 jobs per second; otherwise set REDIS_URL'

async function checkPostgresQueue(url: string): Promise<Finding> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const waitMs = PATIENCE_MS / 2
  const database = openDatabase(url, { max: 1, applicationName: 'doctor', signal, waitMs })
  try {
    if ((await server.hasQueue.one(database)).hasQueue) return ok('queue', POSTGRES_IS_ENOUGH)
    return next('queue', 'PostgreSQL does not have its schema yet', 'collab-sync migrate')
  } catch (error) {
    throw openingFault(database, error, 'QUEUE_DATABASE_URL')
  } finally {
    await database.end()
  }
}

async function checkRedis(place: RedisPlace): Promise<Finding[]> {
  const info = await onRedis(place, redisInfo, PATIENCE_MS)
  requireVersion(info)
  if (info === null)
    return [ok('queue', 'Redis; its user may not call INFO, so version and memory are unknown')]
  const policy = info.get('maxmemory_policy') ?? 'unknown'
  const isKept = info.get('aof_enabled') === '1' || Number(info.get('rdb_last_save_time')) > 0
  return [
    ok('queue', `Redis ${info.get('redis_version') ?? 'unknown'}`),
    policy === 'noeviction'
      ? ok('queue memory', 'maxmemory-policy is noeviction')
      : warn(
          'queue memory',
          `maxmemory-policy is ${policy}: Redis can delete jobs when it is full`,
          'config set maxmemory-policy noeviction',
        ),
    isKept
      ? ok('queue on disk', info.get('aof_enabled') === '1' ? 'append-only file' : 'snapshots')
      : warn(
          'queue on disk',
          'Redis stores nothing on disk: after a restart, workers enqueue lost jobs and register the schedule again',
          'config set appendonly yes',
        ),
  ]
}
