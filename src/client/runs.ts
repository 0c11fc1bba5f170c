import { setTimeout as sleep } from 'node:timers/promises'
import { DEAD_AFTER_S } from '../core/database/claims.ts'
import type { Item } from '../core/database/claims.ts'
import type { Database } from '../core/database/pool.ts'
import { readRun, readRunDetails } from './run-reports.ts'
import { codeOf, explainingLoss, isConnectionLost } from '../core/database/connection-errors.ts'
import * as runs from '../core/database/statements/runs.ts'
import type { RequestedRun, Run, RunDetails } from '../schemas/run.ts'
import { duration } from '../schemas/format.ts'
import { EnvironmentError, UsageError } from '../base/errors.ts'
import { inTime, itemDelivery, refusalOf } from '../core/queue/queue.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import { RunSignals } from '../core/run/run-signals.ts'
import { stopRun } from '../core/run/stop.ts'
import { startRun } from '../core/run/start.ts'
import type { ScopesRequest } from '../core/run/start.ts'
import type { Parts } from './parts.ts'

/** Cancels a run. @throws UsageError if it is over or does not exist */
export async function cancelRun(
  { database, log, by }: Pick<Parts, 'database' | 'log' | 'by'>,
  runId: string,
): Promise<void> {
  const run = await requireRun(database, runId)
  if (run.finishedAt !== null) throw isOver(run)
  const runSignals = new RunSignals()
  const context = { database, deadAfterS: DEAD_AFTER_S, log, runSignals }
  if (await stopRun(context, runId, 'cancelled', 'It was cancelled.', { by })) return
  const now = await requireRun(database, runId)
  if (now.finishedAt !== null && now.status !== 'cancelled') throw isOver(now)
}

function isOver({ runId, status }: Run): UsageError {
  return new UsageError(`Run ${runId} is over: its status is ${status}.`)
}

/** A queue that does not respond must not delay the caller: the run is stored, and workers find undelivered items. */
const DELIVERY_MS = 5_000

/**
 * Requests the scopes that failed in a finished run and still fail, with the scope of that run.
 * @throws UsageError if there is no such run, or it is not over
 */
export async function failedOf(database: Database, runId: string): Promise<ScopesRequest> {
  const { scope, finishedAt } = await requireRun(database, runId)
  if (finishedAt === null)
    throw new UsageError(`Run ${runId} is still in progress: wait for its end.`)
  return { scope, failedOf: runId }
}

/**
 * Starts a run, or returns the one that the same key started.
 * @param way keys of different interfaces are separate
 */
export async function startOnce(
  parts: Parts,
  request: ScopesRequest,
  way: string,
  key: string | undefined,
): Promise<RequestedRun> {
  const { database, settings, trigger, by } = parts
  const requestKey = key === undefined ? null : `${way}:${key}`
  const earlier =
    requestKey === null ? undefined : await runs.findByRequest.first(database, { requestKey })
  if (earlier !== undefined) return known(database, earlier.runId, request)
  const context = { database, operations: settings.operations }
  const { runId, items } = await startRun(context, { ...request, trigger, requestKey, by })
  // Another caller made it in the meantime.
  if (items.length === 0) return known(database, runId, request)
  const isDelivered = await isHandedOver(parts.queue, items, (reason) =>
    parts.log.warn({ reason, runId }, NOT_DELIVERED),
  )
  return { runId, isNew: true, isDelivered }
}

/** Returns the run that the same key made. */
async function known(database: Database, runId: string, request: ScopesRequest) {
  const run = await readRun(database, runId)
  if (run !== null && canonical(run) !== canonical(request))
    throw new UsageError(`idempotencyKey was used for another request before, by run ${runId}.`)
  return { runId, isNew: false, isDelivered: true }
}

export const NOT_DELIVERED =
  'the run is stored, but the queue does not accept jobs; a worker enqueues them later'

/**
 * Enqueues items of a run.
 * @param onFailure receives the reason if the queue does not accept them
 * @returns false in that case: a worker enqueues them later
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

/** The same text for the same request, in any order of the members of its scope. */
function canonical({ scope, failing = false }: ScopesRequest): string {
  return JSON.stringify([failing, Object.entries(scope).sort(([a], [b]) => (a < b ? -1 : 1))])
}

/** How long a watcher waits for a PostgreSQL that restarts or fails over. */
const AWAY_MAX_MS = 120_000

/**
 * Yields a run now, then each time it has changed, its final state last. Between two polls no connection is in use.
 * @throws UsageError if there is no such run; EnvironmentError if PostgreSQL is unreachable at the first read, or for 2 minutes
 *   later; the reason of the signal
 */
export async function* watchRun(
  database: Database,
  runId: string,
  signal?: AbortSignal,
): AsyncGenerator<Run, void, undefined> {
  signal?.throwIfAborted()
  let run = await explainingLoss(database, () => requireRun(database, runId))
  const nextPoll = runPoller(database, runId, { everyMs: 500, signal })
  for (;;) {
    yield run
    if (run.finishedAt !== null) return
    const before = contentOf(run)
    do run = await nextPoll()
    while (contentOf(run) === before)
  }
}

/** Waits for the end of a run. @throws as {@link watchRun} */
export async function waitForRun(
  { database }: Pick<Parts, 'database'>,
  runId: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<RunDetails> {
  for await (const run of watchRun(database, runId, signal)) {
    if (run.finishedAt !== null) break
  }
  return requireRunDetails(database, runId)
}

/**
 * Returns a function that waits for the next poll and returns the run.
 * @param options.everyMs interval of the polls
 * @param options.checks so many times per interval, a cheap query checks whether the run is over, which ends the wait
 * @param options.onAway receives the reason, once per outage of PostgreSQL
 * @throws (the returned function) as {@link watchRun}
 */
export function runPoller(
  database: Database,
  runId: string,
  {
    everyMs,
    checks = 1,
    signal,
    onAway,
  }: {
    everyMs: number
    checks?: number
    signal?: AbortSignal | undefined
    onAway?: (reason: string) => void
  },
): () => Promise<Run> {
  return async () => {
    const calledAtMs = performance.now()
    let isAway = false
    for (;;) {
      try {
        for (let check = 1; check <= checks; check++) {
          // Jitter spreads the queries of programs that watch the same run.
          const ms = (everyMs / checks) * (0.8 + Math.random() * 0.4)
          await sleep(ms, undefined, signal && { signal }).catch(() => {})
          // Throws the reason of the signal, which the error of the timer hides.
          signal?.throwIfAborted()
          if (check === checks) break
          if ((await runs.isOver.first(database, { runId }))?.over !== false) break
        }
        return await requireRun(database, runId)
      } catch (error) {
        if (!isTransient(error)) throw error
        const { message } = error as Error
        if (performance.now() - calledAtMs > AWAY_MAX_MS)
          throw new EnvironmentError(
            `PostgreSQL has not responded for ${duration(AWAY_MAX_MS)} (${message}). The run continues when PostgreSQL is back. Check it with: collab-sync status ${runId}`,
            { cause: error },
          )
        if (!isAway) onAway?.(message)
        isAway = true
      }
    }
  }
}

/** A lost connection, or a server without resources or stopped by its operator (classes 53 and 57); not a wrong statement. */
function isTransient(error: unknown): boolean {
  return isConnectionLost(error) || /^5[37]/.test(codeOf(error) ?? '')
}

/** All but the members that change with the clock. */
function contentOf(run: Run): string {
  return JSON.stringify({ ...run, readAt: null, durationMs: null })
}

/** Reads a run. @throws UsageError if there is none */
export async function requireRun(database: Database, runId: string): Promise<Run> {
  return (await readRun(database, runId)) ?? thereIsNone(runId)
}

/** Reads a run with its details. @throws UsageError if there is none */
export async function requireRunDetails(database: Database, runId: string): Promise<RunDetails> {
  return (await readRunDetails(database, runId)) ?? thereIsNone(runId)
}

function thereIsNone(runId: string): never {
  throw new UsageError(`There is no run ${JSON.stringify(runId)}.`)
}
