import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { openEmbeddedPostgres } from '../../src/worker/embedded/open-embedded-postgres.ts'
import { removeHome } from '../helpers/remove-home.ts'

/** The PostgreSQL and Redis that the suite measures on. */
export interface Servers {
  /** A connection to the suite's PostgreSQL as its superuser. */
  readonly admin: pg.Client
  urlOf(database: string): string
  readonly redisUrl: string
  close(): Promise<void>
}

/**
 * Opens an embedded PostgreSQL with its default settings (durable: fsync, synchronous commit, full page writes), so that its
 * WAL contains nothing else. Redis is that of BENCH_REDIS_URL, or the local one.
 */
export async function openServers(): Promise<Servers> {
  const home = await mkdtemp(join(tmpdir(), 'collab-sync-bench-'))
  const embedded = await openEmbeddedPostgres({ home })
  const admin = new pg.Client(embedded.url)
  await admin.connect()
  // Its WAL would sometimes be counted as that of a run.
  await admin.query('alter system set autovacuum = off')
  await admin.query('select pg_reload_conf()')
  return {
    admin,
    urlOf: embedded.urlOf,
    redisUrl: process.env['BENCH_REDIS_URL'] ?? 'redis://127.0.0.1:6379',
    async close() {
      await admin.end()
      await embedded.close()
      removeHome(home)
    },
  }
}
