import { jobs } from '../../jobs/index.ts'
import { openApp } from '../../src/worker/app.ts'
import type { App } from '../../src/worker/app.ts'
import { setDefinitions } from '../../src/core/database/definitions.ts'
import type { PrivacyChange } from '../../src/core/database/definitions.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import type { NewRun } from '../../src/core/database/runs.ts'
import type { Trigger } from '../../src/schemas/run.ts'
import { catalogLines } from '../../src/demo/catalog.ts'
import type { WorldOptions } from '../../src/demo/layout.ts'
import { startStandIn } from '../service/stand-in.ts'
import type { StandIn, StandInOptions } from '../service/stand-in.ts'
import { World } from '../../src/demo/world.ts'
import { parseScope } from '../../src/schemas/scope.ts'
import { createLog } from '../../src/base/log.ts'
import { readSettings } from '../../src/settings/settings.ts'
import type { Store } from '../../src/worker/store.ts'
import { startRun } from '../../src/core/run/start.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { closedAtEnd } from './closing.ts'
import { createTestDatabase } from './database.ts'
import type { TestDatabase } from './database.ts'
import { runDirectly } from './direct-run.ts'
import { randomPrefix, redisUrl } from './redis.ts'
import { until } from './until.ts'

export type QueueKind = 'redis' | 'postgres'

/** `none` if the test does not concern the queue: runs are processed without it, at half the cost. */
export type LiveQueue = QueueKind | 'none'

/** The queue backends. Without Redis, its tests are skipped; own-redis.ts says so. */
export const QUEUE_KINDS: readonly QueueKind[] = ['postgres', 'redis']

export function isMissing(kind: QueueKind): boolean {
  return kind === 'redis' && redisUrl() === undefined
}

/** A stand-in with its world, a database with its catalog, and the program in this process. */
export interface Live {
  readonly world: World
  readonly standIn: StandIn
  readonly database: TestDatabase
  /** The settings of a process of its own. */
  readonly environment: Readonly<Record<string, string>>
  /** Another instance of the program on the same database and queue. */
  openApp(overrides?: Record<string, string>): Promise<App>
  /** A worker of its own, until the test or its file ends; `startRun` hands a run to the queue. */
  openWorker(overrides?: Record<string, string>): Promise<LiveWorker>
  readonly rows: TestDatabase['rows']
  /** Stores definitions, as `migrate` with these settings does. */
  define(settings: Record<string, string>): Promise<PrivacyChange[]>
  /** Imports the current catalog of the world. */
  importCatalog(options?: { prune: boolean }): Promise<void>
  /** One complete run with one worker; returns its row of sync.runs. */
  run(request?: RunOptions): Promise<RunRow>
  /** Done at the latest when the test or its file ends. */
  close(): Promise<void>
}

export interface LiveWorker {
  readonly app: App
  startRun(scope?: object): Promise<string>
  stop(): Promise<void>
}

export interface RunOptions {
  readonly scope?: unknown
  readonly trigger?: Trigger
  readonly failedOf?: string
  readonly failing?: boolean
  readonly settings?: Record<string, string>
}

export type RunRow = Record<string, unknown> & { run_id: string; status: string }

export const SMALL_WORLD: WorldOptions = {
  seed: 7,
  organizations: 3,
  documentsPerOrganization: 4,
  annotationsPerDocument: 6,
  commentsPerAnnotation: 5,
  usersPerOrganization: 12,
  groupsPerOrganization: 2,
}

export async function openLive(
  queue: LiveQueue,
  options: {
    world?: Partial<WorldOptions>
    standIn?: Partial<StandInOptions>
    settings?: Record<string, string>
    /** Instead of a new one. */
    database?: TestDatabase
  } = {},
): Promise<Live> {
  const world = new World({ ...SMALL_WORLD, ...options.world })
  const standIn = await startStandIn({ world, logCalls: 100_000, ...options.standIn })
  const database = options.database ?? (await createTestDatabase())
  const environment: Record<string, string> = {
    COLLAB_API_URL: standIn.url,
    COLLAB_API_KEY: standIn.apiKey,
    COLLAB_AUTH_TOKEN: standIn.authToken,
    DATABASE_URL: database.url,
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    ...(queue === 'redis' ? { REDIS_URL: redisUrl() ?? '', QUEUE_PREFIX: randomPrefix() } : {}),
    ...options.settings,
  }
  const apps = new Map<App, Store>()
  // Runs without a queue share one instance for each set of settings.
  const direct = new Map<string, App>()
  const settingsWith = (overrides: Record<string, string>) =>
    readSettings(
      { ...environment, ...overrides },
      { need: ['service', 'database', 'queue'], directory: '/nonexistent' },
    )
  // Also closes the pool. Otherwise many runs would use up the connections of the server.
  const closeApp = async (app: App): Promise<void> => {
    const store = apps.get(app)
    apps.delete(app)
    try {
      await app.close()
    } finally {
      await store?.database.end()
    }
  }
  const live: Live = {
    world,
    standIn,
    database,
    environment,
    async openApp(overrides = {}) {
      const settings = settingsWith(overrides)
      const log = createLog(settings.logLevel)
      const store: Store = {
        databaseUrl: database.url,
        database: openDatabase(database.url, { max: queue === 'none' ? 5 : 12 }),
        isNew: false,
        isEmbedded: false,
        queuePlace:
          settings.redisUrl === undefined
            ? { kind: 'postgres', url: database.url }
            : { kind: 'redis', url: settings.redisUrl, prefix: settings.queuePrefix },
        close: async () => {},
      }
      const app = await openApp(settings, store, log)
      apps.set(app, store)
      return app
    },
    async openWorker(overrides) {
      const app = await live.openApp(overrides)
      const worker = await startWorker(app, jobs, { keepsSchedule: false })
      return {
        app,
        startRun: (scope) => startOn(app, scope),
        stop: closedAtEnd(() => worker.stop()),
      }
    },
    rows: database.rows,
    async define(overrides) {
      return setDefinitions(database.pool, settingsWith(overrides))
    },
    async importCatalog(importOptions = { prune: false }) {
      await importCatalog(database.pool, listSource('world', catalogLines(world)), importOptions)
    },
    async run({ scope = {}, trigger = 'cli', failedOf, failing, settings = {} } = {}) {
      const request = {
        trigger,
        scope: parseScope(scope),
        requestKey: null,
        failing,
        ...(failedOf ? { failedOf } : {}),
      }
      if (queue === 'none') {
        const name = JSON.stringify(settings)
        const app = direct.get(name) ?? (await live.openApp(settings))
        direct.set(name, app)
        return settled(database, await runDirectly(app, request))
      }
      const app = await live.openApp(settings)
      const runId = await deliverRun(app, request)
      const worker = await startWorker(app, jobs, { keepsSchedule: false })
      const row = await settled(database, runId)
      await worker.stop()
      await closeApp(app)
      return row
    },
    close: closedAtEnd(async () => {
      for (const app of apps.keys()) await closeApp(app).catch(() => {})
      await standIn.close()
      await database.drop()
    }),
  }
  return live
}

/** With the catalog of its world. */
export async function openLoaded(...opening: Parameters<typeof openLive>): Promise<Live> {
  const live = await openLive(...opening)
  await live.importCatalog()
  return live
}

/** Hands a run to the queue; its id. */
export function startOn(app: App, scope: object = {}, trigger: Trigger = 'cli'): Promise<string> {
  return deliverRun(app, { trigger, scope: parseScope(scope), requestKey: null })
}

async function deliverRun(app: App, request: NewRun): Promise<string> {
  const { runId, items } = await startRun(app.sync, request)
  await app.deliver(items)
  return runId
}

/** Waits for a run's end. */
export function settled(database: TestDatabase, runId: string, limitMs?: number): Promise<RunRow> {
  const ended = async () => {
    const { rows } = await database.pool.query('select * from sync.runs where run_id = $1', [runId])
    const row = rows[0] as (RunRow & { finished_at: Date | null }) | undefined
    return row?.finished_at ? row : null
  }
  return until(`run ${runId} ended`, ended, limitMs)
}
