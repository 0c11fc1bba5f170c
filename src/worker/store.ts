import { hasEmbeddedPostgres } from './embedded/home.ts'
import { openDatabase } from '../core/database/pool.ts'
import { UsageError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { QueuePlace } from '../core/queue/backend.ts'
import type { Settings } from '../settings/table.ts'

/** The PostgreSQL of DATABASE_URL, or the embedded one, which runs while any process has it open. */
export type Store = Awaited<ReturnType<typeof openStore>>

/**
 * Opens PostgreSQL; nothing is read yet.
 * @param options.say is called with a line for the user if the embedded PostgreSQL takes time; default: the log
 * @param options.signal stops the opening, and later breaks the connections
 * @param options.waitMs see `openDatabase`
 * @param options.madeBy the command that creates the embedded PostgreSQL if it is missing. Without it, this call creates it.
 * @throws UsageError if the embedded PostgreSQL is missing and `madeBy` is given; UsageError, EnvironmentError if it cannot be
 *   started
 */
export async function openStore(
  settings: Settings,
  options: {
    log: Log
    applicationName: string
    say?: (line: string) => void
    signal?: AbortSignal | undefined
    waitMs?: number
    madeBy?: 'migrate' | 'demo' | undefined
  },
) {
  const { applicationName, signal, waitMs, madeBy } = options
  const { home } = settings
  // A command that only reads must not create 138 MB.
  if (settings.databaseUrl === undefined && madeBy !== undefined && !hasEmbeddedPostgres(home))
    throw new UsageError(
      madeBy === 'demo'
        ? `The demo has not run in ${home}. Run \`collab-sync demo\` first.`
        : `There is no PostgreSQL yet. Set DATABASE_URL, or run \`collab-sync migrate\` to create an embedded one in ${home}.`,
    )
  const say = options.say ?? ((line: string) => options.log.info(line))
  // Loaded only if DATABASE_URL is not set.
  const openEmbedded = async () => {
    const { openEmbeddedPostgres } = await import('./embedded/open-embedded-postgres.ts')
    return openEmbeddedPostgres({ home, log: say, signal })
  }
  const embedded = settings.databaseUrl === undefined ? await openEmbedded() : null
  const databaseUrl = settings.databaseUrl ?? (embedded?.url as string)
  const { databasePoolSize: max } = settings
  const database = openDatabase(databaseUrl, { max, applicationName, signal, waitMs })
  const queueUrl = settings.queueDatabaseUrl ?? embedded?.urlOf('collab_sync_queue') ?? databaseUrl
  const queuePlace: QueuePlace =
    settings.redisUrl === undefined
      ? { kind: 'postgres', url: queueUrl }
      : { kind: 'redis', url: settings.redisUrl, prefix: settings.queuePrefix }
  return {
    databaseUrl,
    database,
    /** True if this call created the embedded PostgreSQL, which then has no tables. */
    isNew: embedded?.created ?? false,
    isEmbedded: embedded !== null,
    queuePlace,
    async close() {
      await database.end()
      await embedded?.close()
    },
  }
}
