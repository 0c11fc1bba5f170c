import { migrate } from '../core/database/migrate.ts'
import { requireSchema } from '../core/database/schema.ts'
import { checkDatabase } from '../core/database/connection-errors.ts'
import { RequestedBySchema } from '../schemas/action.ts'
import { checked } from '../schemas/check.ts'
import { createLog } from '../base/log.ts'
import { processUser } from '../base/process-user.ts'
import { migrateQueue } from '../core/queue/backend.ts'
import { openQueue } from '../core/queue/queue.ts'
import { readSettings } from '../settings/settings.ts'
import type { Environment } from '../settings/environment.ts'
import { openStore } from '../worker/store.ts'
import { SharedCollabSync } from './collab-sync.ts'
import type { CollabSync } from './collab-sync.ts'

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
  const settings = environment
    ? readSettings(environment, { need })
    : readSettings(process.env, { need })
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
    return new SharedCollabSync(parts, async () => {
      await queue.close()
      await store.close()
    })
  } catch (error) {
    await store.close()
    throw error
  }
}
