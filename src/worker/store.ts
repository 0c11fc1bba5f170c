import { hasEmbeddedPostgres } from './embedded/home.ts'
import { openDatabase } from '../core/database/pool.ts'
import type { Database } from '../core/database/pool.ts'
import { UsageError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { QueuePlace } from '../core/queue/backend.ts'
import type { Settings } from '../settings/table.ts'

/** PostgreSQL as the settings say: the user's, or the embedded one, which runs for as long as anyone has it open. */
export interface Store {
  readonly databaseUrl: string
  readonly database: Database
  /** True where the embedded PostgreSQL has just been made: it has no tables yet. */
  readonly isNew: boolean
  /** True for the embedded PostgreSQL. */
  readonly isEmbedded: boolean
  /** Where BullMQ keeps its queue. */
  readonly queuePlace: QueuePlace
  close(): Promise<void>
}

/**
 * Opens PostgreSQL; nothing is read yet.
 * @param options.say hears a line for a person when the embedded one takes time; the log when left out
 * @param options.signal while it is opened, and breaks its connections later: for a process that is asked to stop at its start
 * @param options.waitMs see `openDatabase`
 * @param options.madeBy the command that creates the embedded one where there is none; without it, this call creates it
 * @throws UsageError where there is no embedded one and `madeBy` is given; UsageError, EnvironmentError where it cannot be
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
): Promise<Store> {
  const { applicationName, signal, waitMs, madeBy } = options
  if (settings.databaseUrl === undefined && madeBy !== undefined) requireEmbedded(settings, madeBy)
  const say = options.say ?? ((line: string) => options.log.info(line))
  // Loaded here only: those with a PostgreSQL of their own need none of it.
  const openEmbedded = async (home: string) => {
    const { openEmbeddedPostgres } = await import('./embedded/open-embedded-postgres.ts')
    return openEmbeddedPostgres({ home, log: say, signal })
  }
  const embedded = settings.databaseUrl === undefined ? await openEmbedded(settings.home) : null
  const databaseUrl = settings.databaseUrl ?? (embedded?.url as string)
  const database = openDatabase(databaseUrl, {
    max: settings.databasePoolSize,
    applicationName,
    ...(signal && { signal }),
    ...(waitMs !== undefined && { waitMs }),
  })
  const queueUrl = settings.queueDatabaseUrl ?? embedded?.urlOf('collab_sync_queue') ?? databaseUrl
  return {
    databaseUrl,
    database,
    isNew: embedded?.created ?? false,
    isEmbedded: embedded !== null,
    queuePlace:
      settings.redisUrl === undefined
        ? { kind: 'postgres', url: queueUrl }
        : { kind: 'redis', url: settings.redisUrl, prefix: settings.queuePrefix },
    async close() {
      await database.end()
      await embedded?.close()
    },
  }
}

/** Keeps a command that only reads from creating 138 MB. @throws UsageError that says what to do first */
function requireEmbedded({ home }: Settings, madeBy: 'migrate' | 'demo'): void {
  if (hasEmbeddedPostgres(home)) return
  throw new UsageError(
    madeBy === 'demo'
      ? `There is nothing of the demo in ${home}. Run \`collab-sync demo\` first.`
      : `There is no PostgreSQL yet. Set DATABASE_URL, or run \`collab-sync migrate\` to create an embedded one in ${home}.`,
  )
}
