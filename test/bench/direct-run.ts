import { openApp } from '../../src/worker/app.ts'
import type { Item } from '../../src/core/database/claims.ts'
import { createLog } from '../../src/base/log.ts'
import type { CollabApi } from '../../src/core/service/client.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { syncBatch } from '../../src/core/sync/batch.ts'
import type { SyncContext } from '../../src/core/sync/context.ts'
import { finishRun } from '../../src/core/run/finish.ts'
import { planPage, startRun } from '../../src/core/run/start.ts'
import type { BenchDatabase } from './database.ts'

/** A sync without network and without queue. */
export interface DirectSync {
  /** Syncs everything. @returns milliseconds @throws unless the run succeeded */
  run(): Promise<number>
  close(): Promise<void>
}

/** Batches in hand at a time, as a worker has. */
const IN_HAND = 8

/**
 * Opens the program with answers from memory. Each item of its runs is worked as soon as it is planned: all that a job
 * does is done, and what is left out is the delivery.
 */
export async function openDirectSync(api: CollabApi, database: BenchDatabase): Promise<DirectSync> {
  const environment = {
    COLLAB_API_URL: 'http://127.0.0.1:1',
    COLLAB_API_KEY: 'none',
    COLLAB_AUTH_TOKEN: 'none',
    DATABASE_URL: database.url,
    LOG_LEVEL: 'warn',
  }
  const settings = readSettings(environment, {
    need: ['service', 'database', 'queue'],
    directory: '/nonexistent',
  })
  const store = {
    databaseUrl: database.url,
    database: database.pool,
    isNew: false,
    isEmbedded: false,
    queuePlace: { kind: 'postgres', url: database.url } as const,
    close: async () => {},
  }
  const app = await openApp(settings, store, createLog(settings.logLevel))
  return {
    run: () => runOnce({ ...app.sync, collabApi: api }),
    close: () => app.close(),
  }
}

async function runOnce(context: SyncContext): Promise<number> {
  const startedMs = performance.now()
  const { runId, items } = await startRun(context, { trigger: 'cli', scope: {}, requestKey: null })
  await workAll(context, items)
  const status = await finishRun(context, runId)
  if (status !== 'succeeded') throw new Error(`Run ${runId} ended as ${status}.`)
  return performance.now() - startedMs
}

async function workAll(context: SyncContext, items: readonly Item[]): Promise<void> {
  const line: Item[] = [...items]
  let working = 0
  await new Promise<void>((resolve, reject) => {
    const next = () => {
      while (working < IN_HAND) {
        const item = line.shift()
        if (item === undefined) break
        working += 1
        work(context, item).then((following) => {
          line.push(...following)
          working -= 1
          next()
        }, reject)
      }
      if (working === 0) resolve()
    }
    next()
  })
}

async function work(context: SyncContext, item: Item): Promise<readonly Item[]> {
  if (item.kind !== 'sync-batch') return planPage(context, item)
  await syncBatch(context, item)
  return []
}
