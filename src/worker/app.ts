import { refreshCatalog } from '../features/catalog/refresh.ts'
import { BY_SCHEDULE } from '../features/catalog/catalog-change.ts'
import { DEAD_AFTER_S } from '../core/database/claims.ts'
import type { Item } from '../core/database/claims.ts'
import { requireDefinitions } from '../core/database/definitions.ts'
import { requireSchema } from '../core/database/schema.ts'
import { DrainingError, EnvironmentError, UsageError } from '../base/errors.ts'
import { RepeatedFault } from '../base/log.ts'
import type { Log } from '../base/log.ts'
import { pruneOnce } from '../features/privacy/prune.ts'
import { readNameRedaction, RulesKeeper } from '../features/privacy/rules.ts'
import { migrateQueue } from '../core/queue/backend.ts'
import { itemDelivery, openQueue } from '../core/queue/queue.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import { RATE_LIMIT_NAME, RateLimiter } from '../core/rate-limit/limiter.ts'
import type { RateLimitOptions } from '../core/rate-limit/limiter.ts'
import { postgresStore, redisStore } from '../core/rate-limit/stores.ts'
import { followLimits } from '../core/rate-limit/follow-limits.ts'
import { openCollabApi } from '../core/service/client.ts'
import { RETRY_AFTER_MAX_MS } from '../core/service/health.ts'
import type { CallReport } from '../core/service/client.ts'
import type { ServiceSettings } from '../settings/settings.ts'
import type { Settings } from '../settings/table.ts'
import { nameProcess } from './process.ts'
import type { Store } from './store.ts'
import { RunSignals } from '../core/run/run-signals.ts'
import type { SyncContext, WorkerProblems } from '../core/sync/context.ts'
import type { SyncWatch } from '../core/run/context.ts'
import { SentCalls } from '../core/sync/counts.ts'
import { ScopeSlots } from '../core/sync/fetch/slots.ts'
import { ObservedMembers } from '../features/observe/observed-members.ts'

/** A job, or `refresh`, in progress in a worker. */
export interface WorkInProgress {
  readonly job: string
  readonly runId?: string | undefined
  readonly itemId?: number | undefined
}

/** What jobs and commands use. */
export type App = ReturnType<typeof createApp>

/** Receives calls, commits and finished runs, for metrics. */
export interface AppWatch extends SyncWatch {
  called(call: CallReport): void
}

/**
 * Opens the service client, the shared rate limit and the queue on an open store.
 * @throws EnvironmentError if the schema has another version or the queue cannot be reached; UsageError if a setting cannot be
 *   used or differs from the one stored in the database
 */
export async function openApp(
  settings: Settings & ServiceSettings,
  store: Store,
  log: Log,
  watch?: AppWatch,
): Promise<App> {
  await requireSchema(store.database)
  await requireDefinitions(store.database, settings)
  await migrateQueue(store.queuePlace)
  const queue = await openQueue(store.queuePlace, log)
  const rateLimit = await openRateLimits(settings, store, log)
  try {
    // Here too, because verify and a dry run have no heartbeat.
    await rateLimit.followLimits(store.database)
    return createApp(settings, { store, queue, rateLimit }, log, watch)
  } catch (error) {
    // An open connection would keep the process alive.
    await rateLimit.close()
    await queue.close()
    throw error
  }
}

function createApp(
  settings: Settings & ServiceSettings,
  { store, queue, rateLimit }: { store: Store; queue: JobQueue; rateLimit: RateLimits },
  log: Log,
  watch: AppWatch | undefined,
) {
  const problems: WorkerProblems = { queue: null, service: null }
  const collabApi = openCollabApi({
    ...settings,
    retryAfterMaxMs: RETRY_AFTER_MAX_MS,
    sharedRateLimit: rateLimit.shared,
    onReach(problem) {
      problems.service = problem
      if (problem === null) log.info('the service can be reached again')
      else log.warn({ reason: problem }, 'the service cannot be reached')
    },
    ...(watch === undefined ? {} : { onCall: (call) => watch.called(call) }),
  })
  const draining = new AbortController()
  const runSignals = new RunSignals()
  const sync: SyncContext = {
    collabApi,
    database: store.database,
    log,
    // Erasures do not search in these ids, so that they may contain no address.
    workerId: nameProcess(),
    deadAfterS: DEAD_AFTER_S,
    runSignals,
    problems,
    scopeSlots: new ScopeSlots(settings.concurrency),
    sentCalls: new SentCalls(store.database, log),
    observed: new ObservedMembers(log),
    itemsInProgress: new Map(),
    drained: draining.signal,
    rules: new RulesKeeper(store.database),
    maxIds: settings.maxIds,
    shrinkLimit: settings.shrinkLimit,
    heldAcceptAfter: settings.heldAcceptAfter,
    operations: settings.operations,
    ...(watch === undefined ? {} : { watch }),
  }
  return {
    settings,
    log,
    store,
    sync,
    queue,
    /** Applies the lowest `SYNC_RATE_LIMIT` of live workers, and the pace and the pause that users set. Call it every few seconds. */
    followLimits: () => rateLimit.followLimits(store.database),
    /** Rate limit of all processes for continuous refresh; null if there is no refresh. */
    refreshBudget: rateLimit.budget,
    /** Reported by a worker that cannot stop in time. */
    inProgress: new Set<WorkInProgress>(),
    /** Adds items of runs to the queue. */
    deliver: (planned: readonly Item[]) => queue.deliver(planned.map(itemDelivery)),
    /** Imports the catalog from CATALOG_SQL, if it is set. If that fails, the catalog stays unchanged and the error is logged. */
    async refreshCatalog() {
      if (settings.catalogSql === undefined) return
      const url = settings.catalogDatabaseUrl ?? store.databaseUrl
      const query = { url, text: settings.catalogSql }
      const options = {
        prune: settings.catalogPrune,
        requestedBy: BY_SCHEDULE,
        redaction: readNameRedaction,
      }
      try {
        const done = await refreshCatalog(store.database, query, options)
        if (done.held === null) log.info(done, 'catalog refreshed')
        else log.error(done, 'the catalog is unchanged: CATALOG_SQL lacks too many of its scopes')
      } catch (error) {
        if (!(error instanceof UsageError || error instanceof EnvironmentError)) throw error
        log.error({ reason: error.message }, 'the catalog is unchanged')
      }
    },
    /** Deletes history that is older than PRUNE_OLDER_THAN, if it is set, once for a nightly run. */
    async pruneFor(runId: string) {
      const { pruneOlderThanMs: olderThanMs } = settings
      if (olderThanMs === undefined) return
      const { signal } = draining
      await pruneOnce(store.database, { runId, by: BY_SCHEDULE, olderThanMs }, { log, signal })
    },
    /** Aborts calls that wait; calls in flight continue. */
    drain: () => draining.abort(new DrainingError('The worker is stopping.')),
    /** Also aborts calls in flight. */
    abandon: () => runSignals.abortAll(new DrainingError('The worker is stopping.')),
    async close() {
      await collabApi.close()
      await rateLimit.close()
      await queue.close()
    },
  }
}

type RateLimits = Awaited<ReturnType<typeof openRateLimits>>

/** Opens the rate limits that all processes share, of all calls and of continuous refresh: in Redis if it is set, else in PostgreSQL. */
async function openRateLimits(
  { rateLimit, redisUrl, refreshBudget, queuePrefix }: Settings,
  store: Store,
  log: Log,
) {
  const fault = new RepeatedFault(log, 'connection of the shared rate limit')
  const redis =
    redisUrl === undefined
      ? null
      : (await import('../core/queue/redis.ts')).openRedis(redisUrl, {}, fault)
  const open = (name: string, options: Omit<RateLimitOptions, 'log'>) =>
    new RateLimiter(
      redis === null
        ? postgresStore(store.database, name)
        : redisStore(redis, `${queuePrefix}:${name}`),
      { ...options, log },
    )
  const shared = open(RATE_LIMIT_NAME, { callsPerSecond: rateLimit ?? null })
  const budget =
    refreshBudget === undefined
      ? null
      : open(BUDGET_NAME, { callsPerSecond: refreshBudget, isSteady: true })
  return {
    shared,
    followLimits: followLimits(shared, rateLimit ?? null, log),
    budget,
    async close() {
      await shared.close()
      await budget?.close()
      redis?.disconnect()
    },
  }
}

const BUDGET_NAME = 'collab-sync-refresh'
