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
import { runStarter, runsOn } from './runs.ts'
import { scheduleOn } from './schedule.ts'
import { searchOn } from './search.ts'
import { thingsOn } from './things.ts'
import { settlingOn } from './waiting.ts'

/**
 * Opens PostgreSQL and the queue of the settings, for a program that starts and follows runs. Workers (`collab-sync worker`) execute
 * them; no credentials of the service are needed here. The connections keep the process alive until `close`.
 * @param options.environment replaces `process.env`; a file `.env` in the working directory is also read
 * @param options.requestedBy name of the program: `sync.actions` shows it as `says: NAME`; if omitted, the user of the process
 * @throws UsageError for missing or wrong settings; EnvironmentError if PostgreSQL or the queue is unreachable, or the tables have
 *   another version
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
  const need = ['database', 'queue'] as const
  const settings =
    environment === undefined
      ? readSettings(process.env, { need })
      : readSettings(environment, { need })
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

/** A `CollabSync` on open parts, which `close` does not close. The tables must have this version (`requireSchema`). */
export function collabSyncOn(parts: Parts): SharedCollabSync {
  const { database } = parts
  const { watchRun, ...runs } = runsOn(parts)
  return {
    ...explainingLossIn(database, {
      ...runStarter(parts),
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

type Functions = Record<string, (...given: never[]) => Promise<unknown>>

/** The same functions, which explain in a sentence if PostgreSQL is unreachable. */
function explainingLossIn<F extends Functions>(database: Database, functions: F): F {
  const entries = Object.entries(functions).map(([name, call]) => [
    name,
    // async: a synchronous error rejects too.
    (...given: never[]) => explainingLoss(database, async () => call(...given)),
  ])
  return Object.fromEntries(entries) as F
}
