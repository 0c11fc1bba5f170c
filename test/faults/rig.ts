import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import { catalogLines } from '../../src/demo/catalog.ts'
import type { WorldOptions } from '../../src/demo/layout.ts'
import { startStandIn } from '../service/stand-in.ts'
import type { StandIn, StandInOptions } from '../service/stand-in.ts'
import { createWorld } from '../../src/demo/world.ts'
import type { World } from '../../src/demo/world.ts'
import type { Trigger } from '../../src/schemas/run.ts'
import { parseScope } from '../../src/schemas/scope.ts'
import { createLog } from '../../src/base/log.ts'
import { migrateQueue } from '../../src/core/queue/backend.ts'
import type { QueuePlace } from '../../src/core/queue/backend.ts'
import { itemDelivery, openQueue } from '../../src/core/queue/queue.ts'
import { startRun } from '../../src/core/run/start.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { settled } from '../helpers/live.ts'
import type { QueueKind, RunRow } from '../helpers/live.ts'
import { randomPrefix, redisUrl } from '../helpers/redis.ts'
import { until } from '../helpers/until.ts'
import { buildWorker } from '../helpers/worker-process.ts'
import type { WorkerProcess } from '../helpers/worker-process.ts'

/** 600 annotations, in more batches than one worker has in hand. */
const WORLD: WorldOptions = {
  seed: 5,
  organizations: 8,
  documentsPerOrganization: 3,
  annotationsPerDocument: 25,
  commentsPerAnnotation: 3,
  usersPerOrganization: 10,
  groupsPerOrganization: 1,
}

/** A stand-in and a database for workers that are processes of their own. */
export interface Rig {
  readonly world: World
  readonly standIn: StandIn
  readonly database: TestDatabase
  /** The environment of its workers. */
  readonly environment: Readonly<Record<string, string>>
  /** Starts a worker; it is killed when the rig closes. @throws with its stderr where it ends instead */
  start(environment?: Readonly<Record<string, string>>): Promise<WorkerProcess>
  /** Hands a full run to the queue; its id. */
  startRun(trigger?: Trigger): Promise<string>
  /** Resolves when the service has seen so many calls since the rig was opened. */
  callsReach(count: number): Promise<void>
  /** Waits for the run's end; its row. */
  settled(runId: string, timeoutMs: number): Promise<RunRow>
  /** Done at the latest when the test or its file ends. */
  close(): Promise<void>
}

/** Opens a rig on a migrated database. @param place.redisUrl the queue is in Redis; else in the database */
export async function openRig(
  place: { databaseUrl: string; redisUrl?: string; queuePrefix?: string },
  options: { world?: Partial<WorldOptions>; standIn?: Partial<StandInOptions> } = {},
): Promise<Rig> {
  const world = createWorld({ ...WORLD, ...options.world })
  const standIn = await startStandIn({ world, ...options.standIn })
  const pool = openDatabase(place.databaseUrl, { max: 4 })
  const rows = async (text: string, ...values: unknown[]) => (await pool.query(text, values)).rows
  const database = { url: place.databaseUrl, pool, rows, drop: async () => {} }
  await importCatalog(pool, listSource('world', catalogLines(world)), { prune: false })
  const prefix = place.queuePrefix ?? 'bull'
  const queuePlace: QueuePlace =
    place.redisUrl === undefined
      ? { kind: 'postgres', url: place.databaseUrl }
      : { kind: 'redis', url: place.redisUrl, prefix }
  await migrateQueue(queuePlace)
  const environment = {
    COLLAB_API_URL: standIn.url,
    COLLAB_API_KEY: standIn.apiKey,
    COLLAB_AUTH_TOKEN: standIn.authToken,
    DATABASE_URL: place.databaseUrl,
    QUEUE_PREFIX: prefix,
    LOG_LEVEL: 'debug',
    ...(place.redisUrl === undefined ? {} : { REDIS_URL: place.redisUrl }),
  }
  const build = await buildWorker()
  return {
    world,
    standIn,
    database,
    environment,
    start: (of = environment) => build.start(of),
    async startRun(trigger = 'cli') {
      const context = { database: pool, operations: ['users', 'comments'] } as const
      const request = { trigger, scope: parseScope({}), requestKey: null } as const
      const { runId, items } = await startRun(context, request)
      const queue = await openQueue(queuePlace, createLog('silent'))
      await queue.deliver(items.map(itemDelivery))
      await queue.close()
      return runId
    },
    async callsReach(count) {
      await until(`the service saw ${count} calls`, () => standIn.calls.total >= count || null)
    },
    settled: (runId, timeoutMs) => settled(database, runId, timeoutMs),
    close: closedAtEnd(async () => {
      build.killAll()
      await standIn.close()
      await pool.end()
    }),
  }
}

/** Opens a rig on a database of its own, which goes with it. */
export async function openOwnRig(
  queue: QueueKind,
  options?: Parameters<typeof openRig>[1],
): Promise<Rig> {
  const database = await createTestDatabase()
  const onRedis = { redisUrl: redisUrl() ?? '', queuePrefix: randomPrefix() }
  const place = { databaseUrl: database.url, ...(queue === 'redis' ? onRedis : {}) }
  const rig = await openRig(place, options)
  return {
    ...rig,
    close: closedAtEnd(async () => {
      await rig.close()
      await database.drop()
    }),
  }
}

/** Calls that a full run over an unbroken service makes: each line of its catalog is one scope. */
export function callsNeeded(world: World): number {
  return [...catalogLines(world)].length
}
