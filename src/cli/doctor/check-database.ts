import { readHeldBack } from '../../features/export/changes.ts'
import { budgetFault, requireDefinitions } from '../../core/database/definitions.ts'
import type { Definitions } from '../../core/database/definitions.ts'
import { readTables, requireSchema } from '../../core/database/schema.ts'
import { checkDatabase, describeDatabase } from '../../core/database/connection-errors.ts'
import { rolledBack } from '../../core/database/pool.ts'
import type { Database } from '../../core/database/pool.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as attention from '../../core/database/statements/attention.ts'
import * as serverStatements from '../../core/database/statements/server.ts'
import * as stored from '../../core/database/statements/definitions.ts'
import * as workers from '../../core/database/statements/workers.ts'
import { counted, duration } from '../../schemas/format.ts'
import { inTime } from '../../core/queue/queue.ts'
import { RATE_LIMIT_NAME } from '../../core/rate-limit/limiter.ts'
import { postgresStore } from '../../core/rate-limit/stores.ts'
import type { Settings } from '../../settings/table.ts'
import type { Store } from '../../worker/store.ts'
import { describeHolder } from '../commands/changes.ts'
import { describeFullRun } from '../full-run.ts'
import { checkExcluded, checkWrittenMember } from './check-fields.ts'
import { checkNotify } from './check-notify.ts'
import { broken, fail, isAway, next, ok, PATIENCE_MS, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** With the queue in PostgreSQL, a larger clock difference orders events wrongly. */
const SKEW_WARN_MS = 1_000
/** An even larger one takes jobs from workers that process them: locks last 15 s. */
const SKEW_FAIL_MS = 10_000

interface Opened {
  readonly database: Database
  readonly store: Store
  readonly settings: Settings
  readonly server: Server
}

/** By the name of the finding of an error. */
type Checks = Record<string, (opened: Opened) => Promise<Finding | readonly Finding[] | null>>

const BASICS: Checks = {
  tables,
  clock,
  collation: ({ database, server }) => checkCollation(database, server.version),
}
const IN_TABLES: Checks = {
  writes,
  definitions: ({ database, settings }) => checkDefinitions(database, settings),
  'excluded fields': ({ database, settings }) => checkExcluded(database, settings),
  'written time': ({ database, settings }) => checkWrittenMember(database, settings),
  'full run': fullRun,
  'open problems': openProblems,
  'feed of changes': heldBackFeed,
  notify: ({ database, settings }) => checkNotify(database, settings.notifyUrls ?? []),
}

/**
 * Checks the connection to PostgreSQL, its version, rights, tables and clock, writes and rolls back a row, and reads the open
 * problems. If it stops responding meanwhile, its own row reports this, and the checks without a response have no row.
 * @param patienceMs of each check; the caller's signal may limit all of them
 */
export async function checkStore(
  store: Store,
  settings: Settings,
  patienceMs = PATIENCE_MS,
): Promise<{ findings: Finding[]; isReachable: boolean }> {
  const { database } = store
  const place = describeDatabase(database)
  const opening = checkDatabase(database).then(() => describeServer(database))
  const server = await inTime(opening, patienceMs).catch((error: unknown) => error as Error)
  if (server instanceof Error)
    return { findings: [broken('PostgreSQL', server, place, patienceMs)], isReachable: false }
  const lost: { name: string; error: unknown }[] = []
  const run = async (checks: Checks): Promise<Finding[]> => {
    const found = Object.entries(checks).map(async ([name, check]) => {
      try {
        return await inTime(check({ database, store, settings, server }), patienceMs)
      } catch (error) {
        if (!isAway(error)) return broken(name, error, '', patienceMs)
        lost.push({ name, error })
        return null
      }
    })
    return (await Promise.all(found)).flat().filter((each) => each !== null)
  }
  const basics = await run(BASICS)
  const tablesState = basics.find(({ check }) => check === 'tables')?.state
  const others = await run(tablesState === 'ok' ? IN_TABLES : { rights })
  const [first] = lost
  const names = lost.map(({ name }) => name).join(', ')
  const connection =
    first === undefined
      ? ok('PostgreSQL', `${server.version} at ${place}, role ${server.role}, ${server.size}`)
      : broken('PostgreSQL', first.error, `${place}, during the check of ${names}`, patienceMs)
  return { findings: [connection, ...basics, ...others], isReachable: first === undefined }
}

/** The server, and the rights of the role. `size` is that of the database, such as `12 MB`. */
export type Server = Omit<RowOf<typeof serverStatements.describe>, 'clock'> & {
  /** Clock of this machine minus clock of the server, in milliseconds. */
  readonly clockAheadMs: number
}

/** Describes the server. It compares the clocks at the middle of the round trip. */
export async function describeServer(database: Database): Promise<Server> {
  // The first query also connects, which is slow.
  await serverStatements.describe.run(database)
  const sentAtMs = Date.now()
  const { clock, ...said } = await serverStatements.describe.one(database)
  const middleMs = (sentAtMs + Date.now()) / 2
  return { ...said, clockAheadMs: Math.round(middleMs - clock.getTime()) }
}

/** Writes the rows that each worker writes, and rolls back. */
async function writes({ database }: Opened): Promise<Finding> {
  const workerId = `doctor:${process.pid}`
  const row = {
    workerId,
    callsInFlight: 0,
    mostCallsInFlight: 0,
    callMs: null,
    problem: null,
    rateLimit: null,
    waiting: null,
    settings: null,
    kind: 'run',
    version: null,
    configuration: null,
  }
  await rolledBack(database, async (client) => {
    await workers.heartbeat.run(client, row)
    await postgresStore(client, RATE_LIMIT_NAME).pause(0)
  })
  return ok('writes', 'a row was written and rolled back')
}

async function tables({ database }: Opened): Promise<Finding> {
  const tables = await readTables(database).catch(() => null)
  if (tables?.state === 'missing')
    return next('tables', 'they do not exist yet', 'collab-sync migrate')
  await requireSchema(database)
  return ok('tables', tables?.sentences ?? 'have this version')
}

async function rights({ server }: Opened): Promise<Finding | null> {
  if (server.mayCreateSchemas) return null
  return fail(
    'rights',
    `the role ${server.role} may not create schemas in this database, which migrate needs`,
    'make the role the owner of the database, or: grant create on database … to the role',
  )
}

async function clock({ server, store }: Opened): Promise<Finding> {
  const { clockAheadMs } = server
  const apart = Math.abs(clockAheadMs)
  const found = `this machine is ${duration(apart)} ${clockAheadMs < 0 ? 'behind' : 'ahead of'} PostgreSQL`
  if (apart < SKEW_WARN_MS) return ok('clock', found)
  const fix = 'synchronize the clocks (NTP)'
  if (store.queuePlace.kind === 'redis' || apart < SKEW_FAIL_MS) return warn('clock', found, fix)
  return fail(
    'clock',
    `${found}; the queue in PostgreSQL needs equal clocks`,
    `${fix}, or set REDIS_URL`,
  )
}

/** Earlier versions of PostgreSQL do not record the version of a collation. */
const FIRST_VERSION = 15

/**
 * Warns if an upgrade of the operating system or of ICU changed how the server sorts texts. Older indexes then have another order:
 * a lookup can miss rows, and a unique index can contain a text twice.
 * @param version of the server, such as `15.4`
 */
export async function checkCollation(database: Database, version: string): Promise<Finding | null> {
  if (Number.parseInt(version) < FIRST_VERSION) return null
  const { databaseName, madeWith, now, isChanged } = await serverStatements.collation.one(database)
  if (!isChanged) return null
  return warn(
    'collation',
    `the indexes of this database were built with version ${madeWith} of its collation, but the server uses version ${now}`,
    `stop the workers, then in psql: reindex database ${databaseName}; alter database ${databaseName} refresh collation version;`,
  )
}

/** The definitions that migrate stores, and whether REFRESH_BUDGET is sufficient for FRESHNESS_PROMISE in this catalog. */
export async function checkDefinitions(
  database: Database,
  settings: Definitions,
): Promise<Finding> {
  await requireDefinitions(database, settings)
  const { refreshBudget } = settings
  const fault =
    refreshBudget === undefined ? null : await budgetFault(database, { ...settings, refreshBudget })
  if (fault !== null)
    return fail(
      'definitions',
      fault,
      'raise REFRESH_BUDGET or FRESHNESS_PROMISE, then run collab-sync migrate',
    )
  const { writtenMembersBefore } = await stored.read.one(database)
  if (writtenMembersBefore === null) return ok('definitions', 'match the settings')
  return warn(
    'definitions',
    'the written time of some stored comments is not computed yet',
    'run collab-sync migrate when all workers have this version',
  )
}

/** Kinds of open problems that doctor checks itself: it calls the service. */
const CHECKED_NOW = new Set(['credentials', 'unreachable'])

/** The open problems that `status` shows, one row for each kind. */
async function openProblems({ database }: Opened): Promise<Finding[]> {
  const rows = await attention.byKind.all(database)
  return rows
    .filter(({ kind }) => !CHECKED_NOW.has(kind))
    .map(({ kind, sentence, words, fix }) => {
      if (kind === 'catalog_empty')
        return next('catalog', sentence, 'collab-sync catalog import FILE')
      const found = [sentence, words].filter(Boolean).join(' ')
      const isHere = fix.includes('collab-sync doctor')
      return warn(kind.replaceAll('_', ' '), found, isHere ? 'fix the problem that it names' : fix)
    })
}

async function fullRun({ database, settings }: Opened): Promise<Finding | null> {
  const described = await describeFullRun(database, settings)
  return described === null ? null : ok('full run', described)
}

/** Most younger transactions end soon. */
const HELD_BACK_MS = 5_000

async function heldBackFeed({ database }: Opened): Promise<Finding | null> {
  const { lines, ...holder } = await readHeldBack(database)
  const { since } = holder
  if (lines === 0 || (since !== null && Date.now() - since.getTime() < HELD_BACK_MS)) return null
  return warn(
    'feed of changes',
    `${counted(lines, 'change')} delayed by ${describeHolder(holder)}`,
    'end that transaction: select pg_terminate_backend(pid), or rollback prepared',
  )
}
