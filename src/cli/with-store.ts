import { format } from 'node:util'
import type { App } from '../worker/app.ts'
import { requireSchema } from '../core/database/schema.ts'
import { checkDatabase } from '../core/database/connection-errors.ts'
import { every } from '../base/every.ts'
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
import { commit, version } from '../base/version.ts'
import { EXIT } from './exit.ts'
import { note } from './output.ts'
import { onSignals, undoneOnSignal } from './signals.ts'
import type { stopOnSignals } from './signals.ts'

/** How a command opens its store. */
export interface Command {
  /** Shown after `collab-sync` in `pg_stat_activity`. */
  readonly name: string
  /** The groups of settings that it uses; `database` if omitted. */
  readonly need?: readonly SettingNeed[]
  /** Migrates the tables first; otherwise only those of a new embedded PostgreSQL. */
  readonly migrates?: boolean
  /** Creates an embedded PostgreSQL if there is none. */
  readonly creates?: boolean
  readonly demo?: boolean | undefined
  /** Wraps the work in a span, if TRACES is set. */
  readonly isTraced?: boolean
  /** Ends the opening and breaks the connections. If omitted, SIGINT and SIGTERM do. */
  readonly signal?: AbortSignal
}

interface Opening<Read extends Settings = Settings> extends Command {
  readonly settings: Read
  readonly log: Log
}

/** Reads the settings of an interactive command. @throws UsageError for a wrong one */
export function openingOf(command: Command): Opening {
  const settings = commandSettings(command.need ?? ['database'], command.demo)
  return { ...command, settings, log: quietLog(settings) }
}

/** Reads the settings of a command, or of the demo. @throws UsageError for a wrong one */
export function commandSettings(need: readonly SettingNeed[], demo = false): Settings {
  return demo ? readDemoSettings(process.env, { need }) : readSettings(process.env, { need })
}

/**
 * Opens PostgreSQL for `work`, and closes it afterwards. A new embedded one gets its tables.
 * @throws UsageError if there is no PostgreSQL and the command creates none; EnvironmentError if PostgreSQL cannot be used; the
 *   error of `work`
 */
export async function withStore<T>(
  opening: Opening,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const openUntil = (signal: AbortSignal) => withStoreUntil(signal, opening, work)
  const open = () => (opening.signal ? openUntil(opening.signal) : undoneOnSignal(openUntil))
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

/**
 * Opens PostgreSQL for a process that works until a signal stops it, and logs its start and its end. A new embedded one gets its
 * tables.
 * @param options.stop its `started` ends the start: a signal before that ends it without an error
 */
export async function withServiceStore(
  settings: Settings,
  options: { log: Log; stop: ReturnType<typeof stopOnSignals>; name: string; madeBy?: 'demo' },
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const { log, stop, name: applicationName, ...made } = options
  await setTracing(settings.traces)
  let store: Store | null = null
  try {
    store = await openStore(settings, { log, applicationName, signal: stop.starting, ...made })
    log.info({ version: version(), commit: commit(), node: process.version }, 'starting')
    if (store.isNew) await migrateStore(store, settings)
    await work(store)
  } catch (error) {
    if (!stop.starting.aborted) throw error
  } finally {
    await store?.close()
    stop.forget()
  }
  log.info('stopped')
}

/** Migrates the tables of a store. The code of migrations is loaded only here. */
async function migrateStore(
  { databaseUrl }: Store,
  settings: Settings,
  signal?: AbortSignal,
): Promise<void> {
  const { migrate } = await import('../core/database/migrate.ts')
  await migrate(databaseUrl, settings, { signal })
}

/**
 * As withStore, and requires that the tables have this version.
 * @returns the exit code of `work`; 0 if it returns none
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

/** As withTables, and opens the queue. It needs no settings of the service. */
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

export type AppOpening = Opening<Settings & ServiceSettings>

/** As withStore, and opens an App. */
export async function withApp<T>(command: Command, work: (app: App) => Promise<T>): Promise<T> {
  const settings = readSettings(process.env, { need: ['service', 'database', 'queue'] })
  const opening = { ...command, settings, log: quietLog(settings) }
  return withStore(opening, (store) => withAppOn(store, opening, work))
}

/** How often a command reads the limits of calls. A worker does so with its heartbeat. */
const FOLLOW_MS = 4_000

/** As withApp, for a command that makes calls itself: it follows the limits of calls, and a signal drains its App. */
export async function withCalls<T>(command: Command, work: (app: App) => Promise<T>): Promise<T> {
  return withApp(command, async (app) => {
    const following = every(FOLLOW_MS, app.log, 'limits of calls', () => app.followLimits())
    const forget = onSignals(() => app.drain())
    try {
      return await work(app)
    } finally {
      forget()
      await following.stop()
    }
  })
}

/** Opens an App on a store. A worker drains its App when it stops, so that each worker needs its own. */
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

/** The log of an interactive command. Its output replaces the level `info`; `debug` and `trace` stay. */
export function quietLog(settings: Settings): Log {
  return commandLog(settings.logLevel === 'info' ? 'warn' : settings.logLevel)
}

/** Creates the log of a process, and redirects the console of libraries to it: stderr contains only JSON lines. */
export function commandLog(level: string): Log {
  const log = createLog(level)
  console.warn = (...words: unknown[]) => log.info(format(...words))
  console.error = (...words: unknown[]) => log.warn(format(...words))
  return log
}
