import { openDatabase } from '../../database/pool.ts'
import * as server from '../../database/statements/server.ts'
import { onRedis } from '../../queue/backend.ts'
import type { QueuePlace } from '../../queue/backend.ts'
import { broken, fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/**
 * The queue's place: reachable, fit for BullMQ, and enough for what is asked of it.
 * @param patienceMs how long it is waited for
 */
export async function checkQueue(place: QueuePlace, patienceMs: number): Promise<Finding[]> {
  return place.kind === 'redis'
    ? checkRedis(place.url, patienceMs)
    : [await checkPostgresQueue(place.url, patienceMs)]
}

const POSTGRES_IS_ENOUGH =
  'the queue is in PostgreSQL: enough on one machine, or a few with clocks kept by NTP, up to about 1,000 jobs a second; set REDIS_URL for many machines or more'

async function checkPostgresQueue(url: string, patienceMs: number): Promise<Finding> {
  const signal = AbortSignal.timeout(patienceMs)
  const database = openDatabase(url, { max: 1, applicationName: 'doctor', signal })
  try {
    if ((await server.hasQueue.one(database)).hasQueue) return ok('queue', POSTGRES_IS_ENOUGH)
    return warn('queue', 'its schema is not in PostgreSQL yet', 'collab-sync migrate')
  } catch (error) {
    return fail(
      'queue',
      `the queue's PostgreSQL cannot be reached: ${(error as Error).message}`,
      'is QUEUE_DATABASE_URL right, and is that server running?',
    )
  } finally {
    await database.end()
  }
}

async function checkRedis(url: string, patienceMs: number): Promise<Finding[]> {
  try {
    return judge(infoOf(await onRedis(url, (redis) => redis.info(), patienceMs)))
  } catch (error) {
    return [broken('queue', error)]
  }
}

function judge(info: ReadonlyMap<string, string>): Finding[] {
  const version = info.get('redis_version') ?? 'unknown'
  const policy = info.get('maxmemory_policy') ?? 'unknown'
  const isKept = info.get('aof_enabled') === '1' || Number(info.get('rdb_last_save_time')) > 0
  return [
    isOldRedis(version)
      ? fail('queue', `Redis is version ${version}`, 'BullMQ needs Redis 6.2 or newer')
      : ok('queue', `Redis ${version}`),
    policy === 'noeviction'
      ? ok('queue memory', 'maxmemory-policy is noeviction')
      : warn(
          'queue memory',
          `maxmemory-policy is ${policy}: Redis may throw jobs away when it is full`,
          'config set maxmemory-policy noeviction',
        ),
    isKept
      ? ok('queue on disk', info.get('aof_enabled') === '1' ? 'append-only file' : 'snapshots')
      : warn(
          'queue on disk',
          'Redis keeps nothing on disk: after a restart workers hand over again what it lost, and the schedule is registered anew',
          'config set appendonly yes',
        ),
  ]
}

function isOldRedis(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < 6 || (major === 6 && minor < 2)
}

/** The lines `name:value` of INFO. */
function infoOf(text: string): Map<string, string> {
  return new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const [, name, value] = /^([^#:]+):(.*)$/.exec(line) ?? []
      return name === undefined || value === undefined ? [] : [[name, value] as const]
    }),
  )
}
