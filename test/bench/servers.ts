import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import pg from 'pg'
import { openEmbeddedPostgres } from '../../src/worker/embedded/open-embedded-postgres.ts'
import { removeHome } from '../helpers/remove-home.ts'

/** The PostgreSQL and Redis that the suite measures on. */
export interface Servers {
  /** A connection to the suite's PostgreSQL as its superuser. */
  readonly admin: pg.Client
  urlOf(database: string): string
  /** Null where there is none: what needs it is then left out, and says so. */
  readonly redisUrl: string | null
  readonly redisVersion: string
  close(): Promise<void>
}

/**
 * Opens a PostgreSQL of the suite's own, with the settings it comes with (durable: fsync, synchronous commit, full page
 * writes), so that nobody else's work is in its WAL; or the one of BENCH_DATABASE_URL. Redis is that of BENCH_REDIS_URL,
 * or the local one.
 */
export async function openServers(): Promise<Servers> {
  const redisUrl = process.env['BENCH_REDIS_URL'] ?? 'redis://127.0.0.1:6379'
  const redisVersion = await versionOf(redisUrl)
  const postgres = await openPostgres(process.env['BENCH_DATABASE_URL'])
  const admin = new pg.Client(postgres.url)
  await admin.connect()
  if (process.env['BENCH_DATABASE_URL'] === undefined) {
    // Its WAL would be counted as ours, now and then.
    await admin.query('alter system set autovacuum = off')
    await admin.query('select pg_reload_conf()')
  }
  return {
    admin,
    urlOf: postgres.urlOf,
    redisUrl: redisVersion === null ? null : redisUrl,
    redisVersion: redisVersion ?? 'none',
    async close() {
      await admin.end()
      await postgres.close()
    },
  }
}

async function openPostgres(given: string | undefined) {
  if (given !== undefined) {
    const urlOf = (database: string) => Object.assign(new URL(given), { pathname: database }).href
    return { url: given, urlOf, close: async () => {} }
  }
  const home = await mkdtemp(join(tmpdir(), 'collab-sync-bench-'))
  const embedded = await openEmbeddedPostgres({ home })
  return {
    url: embedded.url,
    urlOf: embedded.urlOf,
    async close() {
      await embedded.close()
      removeHome(home)
    },
  }
}

async function versionOf(url: string): Promise<string | null> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? 'unknown'
  } catch {
    return null
  } finally {
    redis.disconnect()
  }
}
