import { format } from 'node:util'
import type { App } from '../worker/app.ts'
import { requireSchema } from '../core/database/schema.ts'
import { checkDatabase } from '../core/database/connection-errors.ts'
import { createLog } from '../base/log.ts'
import type { Log } from '../base/log.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import { readDemoSettings } from '../settings/demo.ts'
import { readSettings } from '../settings/settings.ts'
import type { ServiceSettings, SettingNeed } from '../settings/settings.ts'
import type { Settings } from '../settings/table.ts'
import { openStore } from '../worker/store.ts'
import type { Store } from '../worker/store.ts'
import { setTracing, withSpan } from '../base/trace.ts'
import { EXIT } from './exit.ts'
import { note } from './output.ts'
import { undoneOnSignal } from './signals.ts'

/** How a command opens its store. */
export interface Command {
  /** What `pg_stat_activity` shows behind `collab-sync`. */
  readonly name: string
  /** The groups of settings that it uses; `database` when left out. */
  readonly need?: readonly SettingNeed[]
  /** True brings the tables to this program's version first; else only those of a brand-new embedded PostgreSQL. */
  readonly migrates?: boolean
  /** True creates an embedded PostgreSQL where there is none: for commands that write what a later one works with. */
  readonly creates?: boolean
  /** True for the home of the demo, which `collab-sync demo` creates. */
  readonly demo?: boolean | undefined
  /** True does the work in one span, where TRACES asks for spans. */
  readonly isTraced?: boolean
  /** Ends the opening early, and breaks the connections; SIGINT and SIGTERM do where it is left out. */
  readonly signal?: AbortSignal
}

/** What a command opens a store with. */
export interface Opening<Read extends Settings = Settings> extends Command {
  readonly settings: Read
  readonly log: Log
}

/** Reads the settings of a command that a person waits for. @throws UsageError for a wrong one */
export function openingOf(command: Command): Opening {
  const settings = commandSettings(command.need ?? ['database'], command.demo)
  return { ...command, settings, log: quietLog(settings) }
}

/** Reads the settings of a command; with `demo` those of the demo. @throws UsageError for a wrong one */
export function commandSettings(need: readonly SettingNeed[], demo = false): Settings {
  return demo ? readDemoSettings(process.env, { need }) : readSettings(process.env, { need })
}

/**
 * Opens PostgreSQL for `work`, and closes it whatever comes of it. A brand-new embedded one gets its tables on the way.
 * @throws UsageError where there is no PostgreSQL and the command creates none; EnvironmentError where PostgreSQL cannot be reached or used; what `work` throws
 */
export async function withStore<T>(
  opening: Opening,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const open = () =>
    opening.signal === undefined
      ? undoneOnSignal((signal) => withStoreUntil(signal, opening, work))
      : withStoreUntil(opening.signal, opening, work)
  if (!opening.isTraced) return open()
  await setTracing(opening.settings.traces)
  return withSpan(`collab-sync ${opening.name}`, {}, open)
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
    if (store.isNew || migrates) await migrateStore(store, settings, signal)
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Brings the tables of a store to this program's version. What that needs is loaded only here. */
export async function migrateStore(
  { databaseUrl }: Store,
  settings: Settings,
  signal?: AbortSignal,
): Promise<void> {
  const { migrate } = await import('../core/database/migrate.ts')
  await migrate(databaseUrl, settings, { signal })
}

/**
 * Does the work of a command on PostgreSQL, as withStore; the tables must be of this program's version.
 * @returns the exit code of `work`; 0 where it returns none
 */
export async function withTables(
  command: Command,
  work: (store: Store, opening: Opening) => Promise<number | void>,
): Promise<number> {
  const opening = openingOf(command)
  return withStore(opening, async (store) => {
    await requireSchema(store.database)
    return (await work(store, opening)) ?? EXIT.done
  })
}

/** As withTables, and with the queue: enough to ask for a run, which needs nothing of the service. */
export async function withQueue(
  command: Command,
  work: (store: Store, queue: JobQueue, opening: Opening) => Promise<number | void>,
): Promise<number> {
  return withTables({ ...command, need: ['database', 'queue'] }, async (store, opening) => {
    const { migrateQueue } = await import('../core/queue/backend.ts')
    const { openQueue } = await import('../core/queue/queue.ts')
    await migrateQueue(store.queuePlace)
    const queue = await openQueue(store.queuePlace, opening.log)
    try {
      return await work(store, queue, opening)
    } finally {
      await queue.close()
    }
  })
}

/** What a command opens an App with. */
export type AppOpening = Opening<Settings & ServiceSettings>

/** As withStore, and with everything that a worker works with. */
export async function withApp<T>(command: Command, work: (app: App) => Promise<T>): Promise<T> {
  const settings = readSettings(process.env, { need: ['service', 'database', 'queue'] })
  const opening = { ...command, settings, log: quietLog(settings) }
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
