import { format } from 'node:util'
import type { App } from '../worker/app.ts'
import { migrate, requireSchema } from '../core/database/migrate.ts'
import { checkDatabase } from '../core/database/connection-errors.ts'
import { createLog } from '../base/log.ts'
import type { Log } from '../base/log.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import type { ServiceSettings } from '../settings/settings.ts'
import type { Settings } from '../settings/table.ts'
import { openStore } from '../worker/store.ts'
import type { Store } from '../worker/store.ts'
import { makeSpansBy, withSpan } from '../base/trace.ts'
import { note } from './output.ts'
import { undoneOnSignal } from './signals.ts'

/** What a command opens a store with. */
export interface Opening {
  readonly settings: Settings
  readonly log: Log
  /** The command: what `pg_stat_activity` shows behind `collab-sync`. */
  readonly name: string
  /** True brings the tables to this program's version first; else only those of a brand-new embedded PostgreSQL. */
  readonly migrates?: boolean
  /** True creates an embedded PostgreSQL where there is none: for commands that write what a later one works with. */
  readonly creates?: boolean
  /** True for the home of the demo, which `collab-sync demo` creates. */
  readonly demo?: boolean | undefined
  /** Ends the opening early, and breaks the connections; SIGINT and SIGTERM do where it is left out. */
  readonly signal?: AbortSignal
}

/**
 * Opens PostgreSQL for `work`, and closes it whatever comes of it. A brand-new embedded one gets its tables on the way.
 * @throws UsageError where there is no PostgreSQL and the command creates none; EnvironmentError where PostgreSQL cannot be reached or used; what `work` throws
 */
export async function withStore<T>(
  opening: Opening,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  return opening.signal === undefined
    ? undoneOnSignal((signal) => withStoreUntil(signal, opening, work))
    : withStoreUntil(opening.signal, opening, work)
}

async function withStoreUntil<T>(
  signal: AbortSignal,
  { settings, log, name, migrates = false, creates = migrates, demo = false }: Opening,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const madeBy = creates ? undefined : demo ? 'demo' : 'migrate'
  const store = await openStore(settings, { log, applicationName: name, say: note, signal, madeBy })
  try {
    await checkDatabase(store.database)
    if (store.isNew || migrates) await migrate(store.databaseUrl, settings, { signal })
    return await work(store)
  } finally {
    await store.close()
  }
}

/** As withStore, and the tables must be of this program's version. */
export async function withTables<T>(
  opening: Opening,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  return withStore(opening, async (store) => {
    await requireSchema(store.database)
    return work(store)
  })
}

/** As withTables, and with the queue: enough to ask for a run, which needs nothing of the service. */
export async function withQueue<T>(
  opening: Opening,
  work: (store: Store, queue: JobQueue) => Promise<T>,
): Promise<T> {
  return withTables(opening, async (store) => {
    const { migrateQueue } = await import('../core/queue/backend.ts')
    const { openQueue } = await import('../core/queue/queue.ts')
    await migrateQueue(store.queuePlace)
    const queue = await openQueue(store.queuePlace, opening.log)
    try {
      return await work(store, queue)
    } finally {
      await queue.close()
    }
  })
}

/** What a command opens an App with. */
export interface AppOpening extends Opening {
  readonly settings: Settings & ServiceSettings
}

/** As withStore, and with everything that a worker works with. */
export async function withApp<T>(opening: AppOpening, work: (app: App) => Promise<T>): Promise<T> {
  return withStore(opening, (store) => withAppOn(store, opening, work))
}

/** An App on a store that is open. A worker drains its App when it stops, so that each needs one of its own. */
export async function withAppOn<T>(
  store: Store,
  { settings, log }: AppOpening,
  work: (app: App) => Promise<T>,
): Promise<T> {
  const { openApp } = await import('../worker/app.ts')
  const app = await openApp(settings, store, log)
  try {
    return await work(app)
  } finally {
    await app.close()
  }
}

/**
 * The log of a command that a person waits for. Its progress says what `info` would, so that level is left to workers;
 * `debug` and `trace` show everything.
 */
export function quietLog(settings: Settings): Log {
  return commandLog(settings.logLevel === 'info' ? 'warn' : settings.logLevel)
}

/** The log of a process of ours. What libraries print on the console goes there too: stderr has lines of JSON alone. */
export function commandLog(level: string): Log {
  const log = createLog(level)
  console.warn = (...words: unknown[]) => log.info(format(...words))
  console.error = (...words: unknown[]) => log.warn(format(...words))
  return log
}

/** Does the work of a command in one span, where TRACES asks for spans. */
export async function traced<T>(
  name: string,
  settings: Settings,
  work: () => Promise<T>,
): Promise<T> {
  await openTracing(settings)
  return withSpan(`collab-sync ${name}`, {}, work)
}

/** Makes spans from here on, where TRACES asks for them. To be called before the queue is opened; they are loaded only then. */
export async function openTracing({ traces }: Settings): Promise<void> {
  if (!traces) return
  const { openTelemetrySpans } = await import('../worker/telemetry/tracing.ts')
  makeSpansBy(openTelemetrySpans)
}
