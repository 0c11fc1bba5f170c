import { randomBytes } from 'node:crypto'
import { jobs } from '../../jobs/index.ts'
import { openApp } from '../../src/worker/app.ts'
import { openStore } from '../../src/worker/store.ts'
import type { CollabApi } from '../../src/core/service/client.ts'
import { createLog } from '../../src/base/log.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { startRun } from '../../src/core/run/start.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { untilSucceeded } from './database.ts'
import type { BenchDatabase } from './database.ts'
import type { Servers } from './servers.ts'
import type { StandInProcess } from './stand-in.ts'

/** The program in this process, with a worker. */
export interface Program {
  /** Syncs everything. @returns the comments that it updated */
  run(): Promise<{ updated: number }>
  stop(): Promise<void>
}

/** The environment that a process of ours needs to work on a bench's database and stand-in. */
export function environmentOf(
  {
    servers,
    database,
    standIn,
  }: { servers: Servers; database: BenchDatabase; standIn: StandInProcess },
  queue: 'redis' | 'postgres',
): Record<string, string> {
  return {
    COLLAB_API_URL: standIn.url,
    COLLAB_API_KEY: standIn.apiKey,
    COLLAB_AUTH_TOKEN: standIn.authToken,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'warn',
    SYNC_CONCURRENCY: '64',
    ...(queue === 'redis' && {
      REDIS_URL: servers.redisUrl,
      QUEUE_PREFIX: `bench-${randomBytes(6).toString('hex')}`,
    }),
  }
}

/** Opens the program. With `api` it takes its responses from there. */
export async function openProgram(
  environment: Record<string, string | undefined>,
  api?: CollabApi,
) {
  const settings = readSettings(environment, {
    need: ['service', 'database', 'queue'],
    directory: '/nonexistent',
  })
  const log = createLog(settings.logLevel)
  const store = await openStore(settings, { log, applicationName: 'worker' })
  const app = await openApp(settings, store, log)
  if (api) Object.assign(app.sync, { collabApi: api })
  return {
    app,
    async close() {
      await app.close()
      await store.close()
    },
  }
}

/** Opens the program as `collab-sync worker` does. */
export async function startProgram(environment: Record<string, string>): Promise<Program> {
  const { app, close } = await openProgram(environment)
  const worker = await startWorker(app, jobs, { keepsSchedule: false })
  return {
    async run() {
      const start = { trigger: 'cli', scope: {}, requestKey: null } as const
      const { runId, items } = await startRun(app.sync, start)
      await app.deliver(items)
      return { updated: (await untilSucceeded(app.store.database, runId)).records_updated }
    },
    async stop() {
      await worker.stop()
      await close()
    },
  }
}
