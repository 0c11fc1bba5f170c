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
import * as scopes from '../../core/database/statements/scopes.ts'
import * as workers from '../../core/database/statements/workers.ts'
import { count, counted, duration, time } from '../../documents/format.ts'
import { inTime } from '../../core/queue/queue.ts'
import { RATE_LIMIT_NAME } from '../../core/rate-limit/limiter.ts'
import { postgresStore } from '../../core/rate-limit/stores.ts'
import type { Settings } from '../../settings/table.ts'
import type { Store } from '../../worker/store.ts'
import { describeHolder } from '../commands/changes.ts'
import { staleParts } from '../refresh-details.ts'
import { broken, fail, guarded, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Clocks further apart than this order events wrongly where the queue is in PostgreSQL. */
const SKEW_WARN_MS = 1_000
/** ... and than this, jobs are taken from workers that hold them (their locks last 15 s). */
const SKEW_FAIL_MS = 10_000

export interface CheckedDatabase {
  readonly findings: Finding[]
  readonly isReachable: boolean
  /** True where our tables are there and of this version. */
  readonly hasTables: boolean
}

/**
 * PostgreSQL: reachable, new enough, its rights, its tables, its clock, the catalog and the schedule; and whether it can be
 * written to.
 * @param patienceMs how long each check may take
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
        check('freshness', () => freshness(database)),
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

/** The server behind a database, and what our role may do in it; `size` is the database's, such as `12 MB`. */
export type Server = Omit<RowOf<typeof serverStatements.describe>, 'clock'> & {
  /** How far this machine's clock is ahead of the server's, in milliseconds; negative where it is behind. */
  readonly clockAheadMs: number
}

/** Asks the server what it is. The clocks are compared at the middle of the round trip. */
export async function describeServer(database: Database): Promise<Server> {
  // The first query also connects, which would count as a slow round trip.
  await serverStatements.describe.run(database)
  const sentAtMs = Date.now()
  const { clock, ...said } = await serverStatements.describe.one(database)
  const middleMs = (sentAtMs + Date.now()) / 2
  return { ...said, clockAheadMs: Math.round(middleMs - clock.getTime()) }
}

/** Writes what each worker writes, and takes it back. */
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
    const mend = WRITE_MENDS[codeOf(error) ?? '']
    if (mend === undefined) throw error
    return fail('writes', `PostgreSQL refuses them: ${(error as Error).message}`, mend)
  }
}

const WRITE_MENDS: Record<string, string> = {
  '25006': 'set DATABASE_URL to the primary; or default_transaction_read_only is set',
  '42501': 'use the role that ran collab-sync migrate',
  '53100': 'free space on the disk of PostgreSQL',
}

async function tables(database: Database): Promise<Finding> {
  await requireSchema(database)
  return ok('tables', 'of this version')
}

function rights({ role, mayCreateSchemas }: Server): Finding[] {
  if (mayCreateSchemas) return []
  return [
    fail(
      'rights',
      `the role ${role} may not create schemas in this database, which migrate needs`,
      'make it the owner of the database, or: grant create on database … to it',
    ),
  ]
}

function clock({ clockAheadMs }: Server, { queuePlace }: Store): Finding {
  const apart = Math.abs(clockAheadMs)
  const found = `this machine is ${duration(apart)} ${clockAheadMs < 0 ? 'behind' : 'ahead of'} PostgreSQL`
  if (apart < SKEW_WARN_MS) return ok('clock', found)
  const mend = 'synchronise the clocks (NTP)'
  if (queuePlace.kind === 'redis' || apart < SKEW_FAIL_MS) return warn('clock', found, mend)
  return fail(
    'clock',
    `${found}; the queue in PostgreSQL relies on both`,
    `${mend}, or set REDIS_URL`,
  )
}

/** PostgreSQL records the version of a database's collation since then. */
const FIRST_VERSION = 15

/**
 * Warns where an upgrade of the operating system or of ICU changed how the server sorts texts: indexes made before are in another
 * order, so that a lookup may miss rows and a unique index may hold a text twice.
 * @param version of the server, such as `15.4`
 */
export async function checkCollation(database: Database, version: string): Promise<Finding[]> {
  if (Number.parseInt(version) < FIRST_VERSION) return []
  const { databaseName, madeWith, now, isChanged } = await serverStatements.collation.one(database)
  if (!isChanged) return []
  return [
    warn(
      'collation',
      `the indexes of this database were made with version ${madeWith} of its collation, and the server now sorts by version ${now}`,
      `stop the workers, then in psql: reindex database ${databaseName}; alter database ${databaseName} refresh collation version;`,
    ),
  ]
}

async function catalog(database: Database): Promise<Finding> {
  const { active } = await countCatalog(database)
  if (active.organizations === 0) {
    return warn(
      'catalog',
      'it is empty, so there is nothing to sync',
      'collab-sync catalog import FILE',
    )
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
  if (writtenMembersBefore === null) return ok('definitions', 'as in the settings')
  return warn(
    'definitions',
    'when stored comments were written is not known of all yet',
    'collab-sync migrate, once all workers are of this version',
  )
}

async function freshness(database: Database): Promise<Finding> {
  const read = await scopes.freshness.one(database)
  const { scopes: all, stale } = read
  if (stale === 0) return ok('freshness', `none of ${counted(all, 'scope')} is stale`)
  return warn(
    'freshness',
    `${count(stale)} of ${counted(all, 'scope')} are stale: ${staleParts(read)}`,
    'collab-sync run; reporting.freshness names them',
  )
}

/** Continuous refresh: whether its budget keeps the promise. Nothing where there is none. */
export async function checkRefresh(database: Database): Promise<Finding[]> {
  const refresh = await readRefresh(database)
  if (refresh === null) return []
  const { boundS, budget, fault } = refresh
  const mend = 'a larger REFRESH_BUDGET or a longer FRESHNESS_PROMISE, then collab-sync migrate'
  if (fault !== null) return [fail('refresh', fault, mend)]
  const bound = duration(boundS * 1000)
  return [ok('refresh', `a budget of ${budget} calls a second looks at everything within ${bound}`)]
}

async function schedule(database: Database, settings: Settings): Promise<Finding> {
  const { cron, timeZone, next } = await readSchedule(database, settings)
  if (cron === null || next === null) {
    return warn('schedule', 'there is no nightly run', 'collab-sync schedule set "0 2 * * *"')
  }
  return ok('schedule', `${cron} (${timeZone}), next at ${time(next)} if a worker is alive then`)
}

async function frozenWorkers(database: Database): Promise<Finding[]> {
  const known = await workers.read.all(database, { deadAfterS: DEAD_AFTER_S })
  const frozen = known.filter(({ holdsTransaction }) => holdsTransaction)
  return frozen.map(({ workerId }) =>
    warn(
      'workers',
      `${workerId} has no heartbeat and holds a transaction open, for which others may wait`,
      'wake or end that process; a live worker ends its session within half a minute',
    ),
  )
}

/** Open problems that no other check finds, by kind: of what they are, and what to do in place of calling doctor. */
const PROBLEMS: Readonly<Record<string, { check: string; mend?: string }>> = {
  worker_blocked: {
    check: 'workers',
    mend: 'fix what it names; the worker then continues by itself',
  },
  refresh_paused: {
    check: 'refresh',
    mend: 'fix what it names; refresh then continues by itself',
  },
  settings_differ: { check: 'workers' },
}

async function openProblems(database: Database): Promise<Finding[]> {
  const rows = await attention.byKind.all(database)
  return rows.flatMap(({ kind, sentence, words, fix }) => {
    const of = PROBLEMS[kind]
    const found = [sentence, words].filter(Boolean).join(' ')
    return of === undefined ? [] : [warn(of.check, found, of.mend ?? fix)]
  })
}

/** Younger transactions mostly end by themselves. */
const HELD_BACK_MS = 5_000

async function heldBackFeed(database: Database): Promise<Finding[]> {
  const { lines, ...holder } = await readHeldBack(database)
  const { since } = holder
  if (lines === 0 || (since !== null && Date.now() - since.getTime() < HELD_BACK_MS)) return []
  return [
    warn(
      'feed of changes',
      `${counted(lines, 'change')} held back by ${describeHolder(holder)}`,
      'end that transaction: select pg_terminate_backend(pid), or rollback prepared',
    ),
  ]
}
