import { randomBytes } from 'node:crypto'
import { jobs } from '../../jobs/index.ts'
import { openApp } from '../../src/worker/app.ts'
import type { App } from '../../src/worker/app.ts'
import type { Scope } from '../../src/documents/scope.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import { createLog } from '../../src/base/log.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { startRun } from '../../src/core/run/start.ts'
import { startWorker } from '../../src/worker/worker.ts'
import type { BenchDatabase } from './database.ts'
import type { Servers } from './servers.ts'
import type { StandInProcess } from './stand-in.ts'

export type QueueKind = 'redis' | 'postgres'

/** The program in this process, with a worker that has its jobs in hand. */
export interface Program {
  /** One run, of everything without a scope, from asking for it until it is settled. */
  run(scope?: Scope): Promise<MeasuredRun>
  stop(): Promise<void>
}

export interface MeasuredRun {
  readonly calls: number
  readonly records: number
  readonly inserted: number
  readonly updated: number
  /** From asking for the run until it is settled. */
  readonly wholeMs: number
  /** From the first call to the service until the run is settled. */
  readonly fromFirstCallMs: number
  /** CPU of this process, ours and that of the libraries. */
  readonly cpuMs: number
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
  const firstCall = watchFirstCall(app)
  const worker = await startWorker(app, jobs, { keepsSchedule: false })
  return {
    async run(scope = {}) {
      firstCall.atMs = null
      const cpuBefore = process.cpuUsage()
      const startedAtMs = Date.now()
      const { runId, items } = await startRun(app.sync, {
        trigger: 'cli',
        scope,
        requestKey: null,
      })
      await app.deliver(items)
      const row = await settled(app, runId)
      const endedAtMs = row.finished_at.getTime()
      const cpu = process.cpuUsage(cpuBefore)
      return {
        calls: row.calls,
        records: row.records_received,
        inserted: row.records_inserted,
        updated: row.records_updated,
        wholeMs: endedAtMs - startedAtMs,
        fromFirstCallMs: endedAtMs - (firstCall.atMs ?? startedAtMs),
        cpuMs: (cpu.user + cpu.system) / 1000,
      }
    },
    async stop() {
      await worker.stop()
      await app.close()
      await store.database.end()
    },
  }
}

/** Seldom enough to take nothing from what is measured: when a run ended is told by its row. */
const LOOK_EVERY_MS = 25

async function settled(app: App, runId: string) {
  for (;;) {
    const { rows } = await app.store.database.query('select * from sync.runs where run_id = $1', [
      runId,
    ])
    const row = rows[0]
    if (row.finished_at !== null) {
      if (row.status !== 'succeeded') throw new Error(`Run ${runId} ${row.status}: ${row.problem}`)
      return row
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

function watchFirstCall(app: App): { atMs: number | null } {
  const seen: { atMs: number | null } = { atMs: null }
  const api = app.sync.collabApi
  const getUsers = api.getUsers.bind(api)
  const getComments = api.getComments.bind(api)
  Object.assign(api, {
    getUsers: (...parameters: Parameters<typeof getUsers>) => {
      seen.atMs ??= Date.now()
      return getUsers(...parameters)
    },
    getComments: (...parameters: Parameters<typeof getComments>) => {
      seen.atMs ??= Date.now()
      return getComments(...parameters)
    },
  })
  return seen
}
