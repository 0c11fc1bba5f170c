import { migrate } from '../core/database/migrate.ts'
import { requireSchema } from '../core/database/schema.ts'
import { checkDatabase } from '../core/database/connection-errors.ts'
import type { Database } from '../core/database/pool.ts'
import { explainingLoss } from '../core/database/connection-errors.ts'
import { RequestedBySchema } from '../documents/action.ts'
import { checked } from '../documents/check.ts'
import { createLog } from '../base/log.ts'
import { processUser } from '../base/process-user.ts'
import { migrateQueue } from '../core/queue/backend.ts'
import { openQueue } from '../core/queue/queue.ts'
import { readSettings } from '../settings/settings.ts'
import type { Environment } from '../settings/environment.ts'
import { openStore } from '../worker/store.ts'
import { catalogOn } from './catalog.ts'
import type { CollabSync, Parts, SharedCollabSync } from './collab-sync.ts'
import { readFreshness } from './freshness.ts'
import { hintingOn } from './hints.ts'
import { listingsOn } from './listings.ts'
import { askingOn, runsOn } from './runs.ts'
import { scheduleOn } from './schedule.ts'
import { searchOn } from './search.ts'
import { thingsOn } from './things.ts'
import { settlingOn } from './waiting.ts'

const NEED = ['database', 'queue'] as const

/**
 * Opens PostgreSQL and the queue as the settings say, for a program that asks for runs and follows them. Workers
 * (`collab-sync worker`) do the work; nothing of the service is needed here. Until `close` the connections keep the process
 * alive.
 * @param options.environment where the settings are looked up, in place of `process.env`; a file `.env` in the working
 *   directory is read too
 * @param options.requestedBy what the program calls itself: `sync.actions` lists what it does as `says: NAME`, and under the
 *   user of the process where it is left out
 * @throws UsageError for settings that are missing or wrong; EnvironmentError where PostgreSQL or the queue is away, or the
 *   tables are not of this version
 * @example
 * ```ts
 * import { openCollabSync } from 'collab-sync'
 *
 * const collabSync = await openCollabSync()
 * try {
 *   const { runId } = await collabSync.startRun({
 *     scope: { organizationIds: ['acme'] },
 *     idempotencyKey: 'acme, after Monday’s import',
 *   })
 *   for await (const run of collabSync.watchRun(runId)) {
 *     console.log(`${run.status}: ${run.scopesSucceeded} of ${run.scopesExpected} scopes`)
 *   }
 *   const { failuresByCause = [] } = (await collabSync.getRun(runId)) ?? {}
 *   for (const { scopes, errorMessage } of failuresByCause) console.log(scopes, errorMessage)
 * } finally {
 *   await collabSync.close()
 * }
 * ```
 */
export async function openCollabSync(
  options: { environment?: Environment; requestedBy?: string } = {},
): Promise<CollabSync> {
  const { environment, requestedBy } = options
  const by = checked(RequestedBySchema.optional(), requestedBy, 'requestedBy') ?? processUser()
  const settings =
    environment === undefined
      ? readSettings(process.env, { need: NEED })
      : readSettings(environment, { need: NEED })
  const log = createLog(settings.logLevel === 'info' ? 'warn' : settings.logLevel)
  const store = await openStore(settings, { log, applicationName: 'program' })
  try {
    await checkDatabase(store.database)
    if (store.isNew) await migrate(store.databaseUrl, settings)
    await requireSchema(store.database)
    await migrateQueue(store.queuePlace)
    const queue = await openQueue(store.queuePlace, log)
    const { database } = store
    const parts = { database, queue, settings, log, by, trigger: 'api' } as const
    return {
      ...collabSyncOn(parts),
      async close() {
        await queue.close()
        await store.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * A `CollabSync` on parts that somebody else opened; `close` leaves them to whoever opened them.
 * Nothing is asked before a method is called. The tables must be of this program's version (`requireSchema`).
 */
export function collabSyncOn(parts: Parts): SharedCollabSync {
  const { database } = parts
  const { watchRun, ...runs } = runsOn(parts)
  return {
    ...tellingAwayInAll(database, {
      ...askingOn(parts),
      ...hintingOn(parts),
      ...runs,
      ...listingsOn(database),
      ...settlingOn(parts),
      ...scheduleOn(parts),
      ...catalogOn(parts),
      ...thingsOn(parts),
      ...searchOn(parts),
      getFreshness: () => readFreshness(database),
    }),
    watchRun,
    as: (by) => collabSyncOn({ ...parts, by }),
    close: async () => {},
  }
}

type Asking = Record<string, (...given: never[]) => Promise<unknown>>

/** The same functions, which tell in a sentence where PostgreSQL is away. */
function tellingAwayInAll<F extends Asking>(database: Database, functions: F): F {
  const entries = Object.entries(functions).map(([name, ask]) => [
    name,
    // An error that is thrown before anything is awaited rejects too.
    (...given: never[]) => explainingLoss(database, async () => ask(...given)),
  ])
  return Object.fromEntries(entries) as F
}
