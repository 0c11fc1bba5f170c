import { readRefresh } from '../../client/freshness.ts'
import { readSchedule } from '../../client/schedule.ts'
import { countCatalog } from '../../features/catalog/catalog-change.ts'
import { DEAD_AFTER_S } from '../../core/database/claims.ts'
import { readHeldBack } from '../../features/export/changes.ts'
import { requireDefinitions } from '../../core/database/definitions.ts'
import { requireSchema } from '../../core/database/schema.ts'
import { checkDatabase, codeOf, describeDatabase } from '../../core/database/connection-errors.ts'
import { rolledBack } from '../../core/database/pool.ts'
import type { Database } from '../../core/database/pool.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as attention from '../../core/database/statements/attention.ts'
import * as serverStatements from '../../core/database/statements/server.ts'
import * as stored from '../../core/database/statements/definitions.ts'
import * as workers from '../../core/database/statements/workers.ts'
import { counted, duration, time } from '../../documents/format.ts'
import { inTime } from '../../core/queue/queue.ts'
import { RATE_LIMIT_NAME } from '../../core/rate-limit/limiter.ts'
import { postgresStore } from '../../core/rate-limit/stores.ts'
import type { Settings } from '../../settings/table.ts'
import type { Store } from '../../worker/store.ts'
import { describeHolder } from '../commands/changes.ts'
import { broken, fail, guarded, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** With the queue in PostgreSQL, a larger clock difference orders events wrongly. */
const SKEW_WARN_MS = 1_000
/** An even larger one takes jobs from workers that process them: locks last 15 s. */
const SKEW_FAIL_MS = 10_000

export interface CheckedDatabase {
  readonly findings: Finding[]
  readonly isReachable: boolean
  /** True if the tables exist and have this version. */
  readonly hasTables: boolean
}

/**
 * Checks the connection to PostgreSQL, its version, rights, tables, clock, catalog and schedule, and writes and rolls back a row.
 * @param patienceMs of each check
 */
export async function checkStore(
  store: Store,
  settings: Settings,
  patienceMs: number,
): Promise<CheckedDatabase> {
  const { database } = store
  const check = (name: string, work: () => Promise<Finding | Finding[]>) =>
    guarded(name, patienceMs, work)
  let server: Server
  try {
    server = await inTime(
      checkDatabase(database).then(() => describeServer(database)),
      patienceMs,
    )
  } catch (error) {
    return { findings: [broken('PostgreSQL', error)], isReachable: false, hasTables: false }
  }
  const schema = await check('tables', () => tables(database))
  const hasTables = schema.every(({ state }) => state === 'ok')
  const checks = hasTables
    ? await Promise.all([
        check('writes', () => writes(database)),
        check('definitions', () => definitions(database, settings)),
        check('catalog', () => catalog(database)),
        check('refresh', () => checkRefresh(database)),
        check('schedule', () => schedule(database, settings)),
        check('workers', () => frozenWorkers(database)),
        check('attention', () => openProblems(database)),
        check('feed of changes', () => heldBackFeed(database)),
      ])
    : []
  return {
    findings: [
      ok(
        'PostgreSQL',
        `${server.version} at ${describeDatabase(database)}, role ${server.role}, ${server.size}`,
      ),
      ...(hasTables ? [] : rights(server)),
      ...schema,
      clock(server, store),
      ...(await check('collation', () => checkCollation(database, server.version))),
      ...checks.flat(),
    ],
    isReachable: true,
    hasTables,
  }
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
async function writes(database: Database): Promise<Finding> {
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
  }
  try {
    await rolledBack(database, async (client) => {
      await workers.heartbeat.run(client, row)
      await postgresStore(client, RATE_LIMIT_NAME).pause(0)
    })
    return ok('writes', 'a row was written and rolled back')
  } catch (error) {
    const fix = WRITE_FIXES[codeOf(error) ?? '']
    if (fix === undefined) throw error
    return fail('writes', `PostgreSQL refuses writes: ${(error as Error).message}`, fix)
  }
}

const WRITE_FIXES: Record<string, string> = {
  '25006': 'set DATABASE_URL to the primary, or turn off default_transaction_read_only',
  '42501': 'use the role that ran collab-sync migrate',
  '53100': 'free disk space on the server of PostgreSQL',
}

async function tables(database: Database): Promise<Finding> {
  await requireSchema(database)
  return ok('tables', 'have this version')
}

function rights({ role, mayCreateSchemas }: Server): Finding[] {
  if (mayCreateSchemas) return []
  return [
    fail(
      'rights',
      `the role ${role} may not create schemas in this database, which migrate needs`,
      'make the role the owner of the database, or: grant create on database … to the role',
    ),
  ]
}

function clock({ clockAheadMs }: Server, { queuePlace }: Store): Finding {
  const apart = Math.abs(clockAheadMs)
  const found = `this machine is ${duration(apart)} ${clockAheadMs < 0 ? 'behind' : 'ahead of'} PostgreSQL`
  if (apart < SKEW_WARN_MS) return ok('clock', found)
  const fix = 'synchronize the clocks (NTP)'
  if (queuePlace.kind === 'redis' || apart < SKEW_FAIL_MS) return warn('clock', found, fix)
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
export async function checkCollation(database: Database, version: string): Promise<Finding[]> {
  if (Number.parseInt(version) < FIRST_VERSION) return []
  const { databaseName, madeWith, now, isChanged } = await serverStatements.collation.one(database)
  if (!isChanged) return []
  return [
    warn(
      'collation',
      `the indexes of this database were built with version ${madeWith} of its collation, but the server uses version ${now}`,
      `stop the workers, then in psql: reindex database ${databaseName}; alter database ${databaseName} refresh collation version;`,
    ),
  ]
}

async function catalog(database: Database): Promise<Finding> {
  const { active } = await countCatalog(database)
  if (active.organizations === 0) {
    return warn('catalog', 'empty: there is nothing to sync', 'collab-sync catalog import FILE')
  }
  const parts = [
    counted(active.organizations, 'organization'),
    counted(active.documents, 'document'),
    counted(active.annotations, 'annotation'),
    counted(active.userGroups, 'user group'),
  ]
  return ok('catalog', parts.join(', '))
}

async function definitions(database: Database, settings: Settings): Promise<Finding> {
  await requireDefinitions(database, settings)
  const { writtenMembersBefore } = await stored.read.one(database)
  if (writtenMembersBefore === null) return ok('definitions', 'match the settings')
  return warn(
    'definitions',
    'the written time of some stored comments is not computed yet',
    'run collab-sync migrate when all workers have this version',
  )
}

/** Checks whether REFRESH_BUDGET is sufficient for FRESHNESS_PROMISE. */
export async function checkRefresh(database: Database): Promise<Finding[]> {
  const refresh = await readRefresh(database)
  if (refresh === null) return []
  const { boundS, budget, fault } = refresh
  const fix = 'raise REFRESH_BUDGET or FRESHNESS_PROMISE, then run collab-sync migrate'
  if (fault !== null) return [fail('refresh', fault, fix)]
  const bound = duration(boundS * 1000)
  return [ok('refresh', `${budget} calls per second check every scope within ${bound}`)]
}

async function schedule(database: Database, settings: Settings): Promise<Finding> {
  const { cron, timeZone, next } = await readSchedule(database, settings)
  if (cron === null || next === null) {
    return warn('schedule', 'no nightly run is scheduled', 'collab-sync schedule set "0 2 * * *"')
  }
  return ok('schedule', `${cron} (${timeZone}), next at ${time(next)} if a worker is running`)
}

async function frozenWorkers(database: Database): Promise<Finding[]> {
  const known = await workers.read.all(database, { deadAfterS: DEAD_AFTER_S })
  const frozen = known.filter(({ holdsTransaction }) => holdsTransaction)
  return frozen.map(({ workerId }) =>
    warn(
      'workers',
      `${workerId} has no heartbeat and an open transaction, which can block other workers`,
      'resume or end that process; a live worker terminates its session within 30 seconds',
    ),
  )
}

/** Checks that report open problems, by kind of problem. `fix` replaces the advice to run doctor. */
const PROBLEMS: Readonly<Record<string, { check: string; fix?: string }>> = {
  failing: { check: 'freshness' },
  overdue: { check: 'freshness' },
  never_checked: { check: 'freshness' },
  worker_blocked: {
    check: 'workers',
    fix: 'fix the problem that it names; the worker then continues',
  },
  refresh_paused: {
    check: 'refresh',
    fix: 'fix the problem that it names; refresh then continues',
  },
  settings_differ: { check: 'workers' },
}

async function openProblems(database: Database): Promise<Finding[]> {
  const rows = await attention.byKind.all(database)
  return rows.flatMap(({ kind, sentence, words, fix }) => {
    const of = PROBLEMS[kind]
    const found = [sentence, words].filter(Boolean).join(' ')
    return of === undefined ? [] : [warn(of.check, found, of.fix ?? fix)]
  })
}

/** Most younger transactions end soon. */
const HELD_BACK_MS = 5_000

async function heldBackFeed(database: Database): Promise<Finding[]> {
  const { lines, ...holder } = await readHeldBack(database)
  const { since } = holder
  if (lines === 0 || (since !== null && Date.now() - since.getTime() < HELD_BACK_MS)) return []
  return [
    warn(
      'feed of changes',
      `${counted(lines, 'change')} delayed by ${describeHolder(holder)}`,
      'end that transaction: select pg_terminate_backend(pid), or rollback prepared',
    ),
  ]
}
