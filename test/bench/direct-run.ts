import pLimit from 'p-limit'
import type { Item } from '../../src/core/database/claims.ts'
import type { CollabApi } from '../../src/core/service/client.ts'
import { syncBatch } from '../../src/core/sync/batch.ts'
import type { SyncContext } from '../../src/core/sync/context.ts'
import { finishRun } from '../../src/core/run/finish.ts'
import { planPage, startRun } from '../../src/core/run/start.ts'
import type { BenchDatabase } from './database.ts'
import { openProgram } from './program.ts'

/** A sync without network and without queue. */
export interface DirectSync {
  /** Syncs everything. @returns milliseconds @throws unless the run ended with the status */
  run(status?: RunStatus): Promise<number>
  close(): Promise<void>
}

/** Batches in progress at a time, as in a worker. */
const IN_PROGRESS = 8

/**
 * Opens the program with responses from memory. Each item of its runs is executed as soon as it is planned, which is all
 * that jobs do except for their delivery.
 */
export async function openDirectSync(api: CollabApi, database: BenchDatabase): Promise<DirectSync> {
  const { app, close } = await openProgram(
    {
      COLLAB_API_URL: 'http://127.0.0.1:1',
      COLLAB_API_KEY: 'none',
      COLLAB_AUTH_TOKEN: 'none',
      DATABASE_URL: database.url,
      LOG_LEVEL: 'warn',
    },
    api,
  )
  return { run: (status = 'succeeded') => runOnce(app.sync, status), close }
}

type RunStatus = Awaited<ReturnType<typeof finishRun>>

async function runOnce(context: SyncContext, expected: RunStatus): Promise<number> {
  const startedMs = performance.now()
  const { runId, items } = await startRun(context, { trigger: 'cli', scope: {}, requestKey: null })
  await workAll(context, items)
  const status = await finishRun(context, runId)
  if (status !== expected) throw new Error(`Run ${runId} ended as ${status}.`)
  return performance.now() - startedMs
}

async function workAll(
  context: SyncContext,
  items: readonly Item[],
  limit = pLimit(IN_PROGRESS),
): Promise<void> {
  const each = async (item: Item) => workAll(context, await limit(() => work(context, item)), limit)
  await Promise.all(items.map(each))
}

async function work(context: SyncContext, item: Item): Promise<readonly Item[]> {
  if (item.kind !== 'sync-batch') return planPage(context, item)
  await syncBatch(context, item)
  return []
}
