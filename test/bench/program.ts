import { randomBytes } from 'node:crypto'
import { jobs } from '../../jobs/index.ts'
import { openApp } from '../../src/worker/app.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import { createLog } from '../../src/base/log.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { startRun } from '../../src/core/run/start.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { untilSucceeded } from './database.ts'
import type { BenchDatabase } from './database.ts'
import type { Servers } from './servers.ts'
import type { StandInProcess } from './stand-in.ts'

export type QueueKind = 'redis' | 'postgres'

/** The program in this process, with a worker. */
export interface Program {
  /** Syncs everything. @returns the comments that it updated */
  run(): Promise<{ updated: number }>
  stop(): Promise<void>
}

/** The environment that a process of ours needs to work on a bench's database and stand-in. */
export function environmentOf(
  place: { servers: Servers; database: BenchDatabase; standIn: StandInProcess },
  queue: QueueKind,
  concurrency: number,
): Record<string, string> {
  const { servers, database, standIn } = place
  return {
    COLLAB_API_URL: standIn.url,
    COLLAB_API_KEY: standIn.apiKey,
    COLLAB_AUTH_TOKEN: standIn.authToken,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'warn',
    SYNC_CONCURRENCY: String(concurrency),
    ...(queue === 'redis' && servers.redisUrl !== null
      ? { REDIS_URL: servers.redisUrl, QUEUE_PREFIX: `bench-${randomBytes(6).toString('hex')}` }
      : {}),
  }
}

/** Opens the program as `collab-sync worker` does. */
export async function startProgram(environment: Record<string, string>): Promise<Program> {
  const settings = readSettings(environment, {
    need: ['service', 'database', 'queue'],
    directory: '/nonexistent',
  })
  const log = createLog(settings.logLevel)
  const databaseUrl = settings.databaseUrl as string
  const store = {
    databaseUrl,
    database: openDatabase(databaseUrl, { max: 12 }),
    isNew: false,
    isEmbedded: false,
    queuePlace:
      settings.redisUrl === undefined
        ? ({ kind: 'postgres', url: databaseUrl } as const)
        : ({ kind: 'redis', url: settings.redisUrl, prefix: settings.queuePrefix } as const),
    close: async () => {},
  }
  const app = await openApp(settings, store, log)
  const worker = await startWorker(app, jobs, { keepsSchedule: false })
  return {
    async run() {
      const start = { trigger: 'cli', scope: {}, requestKey: null } as const
      const { runId, items } = await startRun(app.sync, start)
      await app.deliver(items)
      return { updated: (await untilSucceeded(store.database, runId)).records_updated }
    },
    async stop() {
      await worker.stop()
      await app.close()
      await store.database.end()
    },
  }
}
