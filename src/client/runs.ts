import { setTimeout as sleep } from 'node:timers/promises'
import { addScope } from '../features/catalog/change.ts'
import { DEAD_AFTER_S } from '../core/database/claims.ts'
import type { Item } from '../core/database/claims.ts'
import type { Database } from '../core/database/pool.ts'
import { readRun, readRunDetails } from './run-reports.ts'
import { explainingLoss } from '../core/database/connection-errors.ts'
import * as runs from '../core/database/statements/runs.ts'
import { checked, isRunId } from '../documents/check.ts'
import { RetryRequestSchema, RunRequestSchema } from '../documents/run.ts'
import type { RequestedRun, Run, RunDetails } from '../documents/run.ts'
import { EnvironmentError, UsageError } from '../base/errors.ts'
import { inTime, itemDelivery, refusalOf } from '../core/queue/queue.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import { RunSignals } from '../core/run/context.ts'
import { stopRun } from '../core/run/stop.ts'
import { startRun } from '../core/run/start.ts'
import type { ScopesRequest } from '../core/run/start.ts'
import type { CollabSync, Parts } from './collab-sync.ts'

type Runs = Pick<CollabSync, 'getRun' | 'cancelRun' | 'watchRun' | 'waitForRun'>

/** One run: what is known of it, its end, and following it there. */
export function runsOn({ database, log, by }: Pick<Parts, 'database' | 'log' | 'by'>): Runs {
  return {
    getRun: (runId) => readDetails(database, runId),
    async cancelRun(runId) {
      const run = await requireRun(database, runId)
      if (run.finishedAt !== null) throw isOver(run)
      const runSignals = new RunSignals()
      const context = { database, deadAfterS: DEAD_AFTER_S, log, runSignals }
      if (await stopRun(context, runId, 'cancelled', 'It was cancelled.', { by })) return
      const now = await requireRun(database, runId)
      if (now.finishedAt !== null && now.status !== 'cancelled') throw isOver(now)
    },
    watchRun: (runId, { signal } = {}) => watchRun(database, runId, signal),
    async waitForRun(runId, { signal } = {}) {
      for await (const run of watchRun(database, runId, signal)) {
        if (run.finishedAt !== null) break
      }
      return (await readDetails(database, runId)) ?? thereIsNone(runId)
    },
  }
}

async function readDetails(database: Database, runId: string): Promise<RunDetails | null> {
  return isRunId(runId) ? readRunDetails(database, runId) : null
}

function isOver({ runId, status }: Run): UsageError {
  return new UsageError(`Run ${runId} is over: its status is ${status}.`)
}

/** A queue that hangs must not hold up who asked: the run is stored, and workers look for what nobody delivered. */
const DELIVERY_MS = 5_000

/** Asking for runs. */
export function askingOn(parts: Parts): Pick<CollabSync, 'startRun' | 'retryRun'> {
  return {
    async startRun(request = {}) {
      const { scope = {}, add, failing, idempotencyKey } = checked(RunRequestSchema, request, '')
      if (add) await addScope(parts.database, scope, parts.by)
      return askOnce(parts, { scope, failing }, keyOf(parts.trigger, idempotencyKey))
    },
    async retryRun(runId, request = {}) {
      const { idempotencyKey } = checked(RetryRequestSchema, request, '')
      const requestKey = keyOf(`${parts.trigger}-retry:${runId}`, idempotencyKey)
      return askOnce(parts, await failedOf(parts.database, runId), requestKey)
    },
  }
}

/**
 * A request for what failed in a settled run and still fails, asked as that run asked: a narrowed question is asked again as
 * narrowed.
 * @throws UsageError where there is no such run, or it is not over
 */
export async function failedOf(database: Database, runId: string): Promise<ScopesRequest> {
  const { scope, finishedAt } = await requireRun(database, runId)
  if (finishedAt === null) {
    throw new UsageError(`Run ${runId} is still under way: wait for its end.`)
  }
  return { scope, failedOf: runId }
}

async function askOnce(
  parts: Parts,
  request: ScopesRequest,
  requestKey: string | null,
): Promise<RequestedRun> {
  const { database, settings, trigger, by } = parts
  const earlier =
    requestKey === null ? undefined : await runs.findByRequest.first(database, { requestKey })
  if (earlier !== undefined) return known(database, earlier.runId, request)
  const context = { database, operations: settings.operations }
  const { runId, items } = await startRun(context, { ...request, trigger, requestKey, by })
  // Without items somebody has made it since we looked.
  if (items.length === 0) return known(database, runId, request)
  const isDelivered = await isHandedOver(parts.queue, items, (reason) =>
    parts.log.warn({ reason, runId }, NOT_DELIVERED),
  )
  return { runId, isNew: true, isDelivered }
}

/** A run that the same key made. */
async function known(database: Database, runId: string, request: ScopesRequest) {
  const run = await readRun(database, runId)
  if (run !== null && canonical(run) !== canonical(request)) {
    throw new UsageError(`idempotencyKey was used for another request before, by run ${runId}.`)
  }
  return { runId, isNew: false, isDelivered: true }
}

/** The run is stored, and each worker looks for such runs. */
export const NOT_DELIVERED =
  'the run is stored, but the queue does not accept jobs; a worker takes it up when the queue does'

/**
 * Hands items of a run to the queue.
 * @param onFailure is called with the reason where the queue does not accept them
 * @returns false then: a worker takes the run up
 */
export async function isHandedOver(
  queue: JobQueue,
  items: readonly Item[],
  onFailure: (reason: string) => void,
): Promise<boolean> {
  try {
    await inTime(queue.deliver(items.map(itemDelivery)), DELIVERY_MS)
    return true
  } catch (error) {
    onFailure(refusalOf(error))
    return false
  }
}

/** @param way how it is asked: keys of those who ask in different ways never meet */
function keyOf(way: string, key: string | undefined): string | null {
  return key === undefined ? null : `${way}:${key}`
}

/** One text for one request, in whatever order the members of its scope come. */
function canonical({ scope, failing = false }: ScopesRequest): string {
  return JSON.stringify([failing, Object.entries(scope).sort(([a], [b]) => (a < b ? -1 : 1))])
}

const POLL_MS = 500
/** A PostgreSQL that restarts, or fails over, is waited for. */
const AWAY_MAX_MS = 120_000

/**
 * A run as it is, then each time something of it changed, its settled state last. One small query a look; nothing is open
 * between two of them.
 * @throws UsageError where there is no such run; EnvironmentError where PostgreSQL is away at first, or stays away; the
 *   signal's reason
 */
export async function* watchRun(
  database: Database,
  runId: string,
  signal?: AbortSignal,
): AsyncGenerator<Run, void, undefined> {
  signal?.throwIfAborted()
  let run = await explainingLoss(database, () => requireRun(database, runId))
  for (;;) {
    yield run
    if (run.finishedAt !== null) return
    run = await nextChange(database, run, signal)
  }
}

async function nextChange(
  database: Database,
  before: Run,
  signal: AbortSignal | undefined,
): Promise<Run> {
  let seenAtMs = performance.now()
  for (;;) {
    // Jitter, so that those who watch one run do not all come at once.
    await sleepUnlessAborted(POLL_MS * (0.8 + Math.random() * 0.4), signal)
    try {
      const run = await explainingLoss(database, () => requireRun(database, before.runId))
      if (contentOf(run) !== contentOf(before)) return run
      seenAtMs = performance.now()
    } catch (error) {
      const isPatient = performance.now() - seenAtMs < AWAY_MAX_MS
      if (!(error instanceof EnvironmentError) || !isPatient) throw error
    }
  }
}

/** All but what the clock changes. */
function contentOf(run: Run): string {
  return JSON.stringify({ ...run, readAt: null, durationMs: null })
}

/** @throws the signal's reason, not the timer's error that hides it */
async function sleepUnlessAborted(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => {})
  signal?.throwIfAborted()
}

/** One run as it is now. @throws UsageError where there is none */
export async function requireRun(database: Database, runId: string): Promise<Run> {
  return (isRunId(runId) ? await readRun(database, runId) : null) ?? thereIsNone(runId)
}

/** @throws UsageError always */
export function thereIsNone(runId: unknown): never {
  throw new UsageError(`There is no run ${JSON.stringify(runId)}.`)
}
