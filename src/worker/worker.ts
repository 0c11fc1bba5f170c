import type { App, WorkInProgress } from './app.ts'
import { transaction } from '../core/database/pool.ts'
import { resetRestored } from '../core/database/restored.ts'
import * as refresh from '../core/database/statements/refresh.ts'
import * as runs from '../core/database/statements/runs.ts'
import * as workers from '../core/database/statements/workers.ts'
import { every } from '../base/every.ts'
import type { Repeated } from '../base/every.ts'
import { keepNotified } from '../features/notify/notifier.ts'
import type { Load } from '../core/service/client.ts'
import type { QueueName } from '../core/queue/backend.ts'
import { makeUpForPausedNight, noteSchedule, registerSchedule } from '../core/queue/schedule.ts'
import { idsOf, startQueueWorker } from '../core/queue/worker.ts'
import type { Delivered, QueueWorker } from '../core/queue/worker.ts'
import { sharedSettings } from '../settings/table.ts'
import { describeProcess, HEARTBEAT_MS } from './process.ts'
import { Refresher } from '../features/refresh/refresher.ts'
import { recoverLostItems } from '../core/run/finish.ts'
import { findWait, ReportedWaits } from '../core/sync/worker-waits.ts'
import type { ReportedWait } from '../core/sync/worker-waits.ts'
import { outsideTraces, withSpan } from '../base/trace.ts'

/** Handler of one kind of job in `jobs/`. */
export type Job = (app: App, delivered: Delivered) => Promise<unknown>

/** Is called when jobs begin and end; must not throw. */
export interface JobWatch {
  jobBegun(name: string): void
  jobEnded(name: string): void
}

export type RunningWorker = Awaited<ReturnType<typeof start>>

/**
 * Least number of concurrent jobs. Of large runs a worker takes more than one only while it has free calls, so that workers share
 * what is left of a run. A request of a person does not wait for a batch of another one.
 */
const JOBS_MIN: Readonly<Record<QueueName, number>> = { requests: 8, everything: 1 }
/** Small organizations have batches of one or two calls and need more concurrent jobs. */
const JOBS_MAX = 128
const RECOVER_MS = 10_000
/** With the jitter of `every`, counts of calls are written within a second. */
const WRITE_CALLS_MS = 900
/** The name of continuous refresh among the work in progress. */
const REFRESH = 'refresh'
/** How long a stop waits for calls in flight. `src/cli/signals.ts` has the deadline of the whole stop. */
const GRACE_MS = 5_000

interface WorkerOptions {
  /** False for `run`, which ends with its run. */
  readonly keepsSchedule: boolean
  /** For metrics. */
  readonly watch?: JobWatch
}

/** Processes jobs until stopped, writes its heartbeat, recovers lost items and keeps the nightly schedule registered. */
export const startWorker: typeof start = (...given) => outsideTraces(() => start(...given))

async function start(
  app: App,
  jobs: Readonly<Record<string, Job>>,
  { keepsSchedule, watch }: WorkerOptions,
) {
  const { database } = app.store
  const waits = new ReportedWaits(app.log, app.settings.retries)
  const handlers = new Map(
    Object.entries(jobs).map(([name, job]) => [
      name,
      (delivered: Delivered) => {
        waits.workBegins()
        return perform(app, { name, job }, delivered, watch)
      },
    ]),
  )
  const { refreshBudget } = app
  const isRefreshing = keepsSchedule && refreshBudget !== null
  const refresher = isRefreshing ? new Refresher(app.sync, refreshBudget) : null
  const queueWorkers: QueueWorker[] = []
  const described = {
    ...describeProcess(keepsSchedule ? 'worker' : 'run', app.settings),
    settings: keepsSchedule ? JSON.stringify(sharedSettings(app.settings)) : null,
  }
  const heartbeat = async () => {
    // First, so that a pause is not reported as something else.
    await app.followLimits()
    const problems = await Promise.all(queueWorkers.map((each) => each.problem()))
    app.sync.problems.queue = problems.find((problem) => problem !== null) ?? null
    const wait = findWait(app.sync, {
      lock: (await workers.lockWait.first(database)) ?? null,
      hasJobs: [...app.inProgress].some(({ job }) => job !== REFRESH),
      failed: queueWorkers.map((each) => each.failed()).find((job) => job !== null) ?? null,
      refresh: refresher?.polling ?? null,
    })
    await writeHeartbeat(app, waits.report(wait), described)
  }
  await heartbeat()
  const upkeep: Pick<Repeated, 'stop'>[] = [
    every(HEARTBEAT_MS, app.log, 'heartbeat', heartbeat),
    every(WRITE_CALLS_MS, app.log, 'counting of calls', () => {
      app.sync.collabApi.countWaits()
      return app.sync.sentCalls.write()
    }),
    every(RECOVER_MS, app.log, 'recovery of lost items', async () => {
      const { workerId, deadAfterS } = app.sync
      const itemId = refresher?.polling.item?.itemId ?? null
      await refresh.closeItems.run(database, { workerId, itemId, deadAfterS })
      await recoverLostItems(app.sync, (items) => app.deliver(items))
    }),
  ]
  const stopUpkeep = async () => {
    await Promise.all(upkeep.map((each) => each.stop()))
    await app.sync.sentCalls.close()
    await workers.leave.run(database, { workerId: app.sync.workerId }).catch(() => {})
  }
  try {
    // After the heartbeat, which ends transactions of frozen workers that it would wait for.
    await transaction(database, resetRestored)
    if (keepsSchedule) {
      const schedule = every(RECOVER_MS, app.log, 'nightly schedule', async () => {
        await registerSchedule(app.queue, await noteSchedule(database, app.settings))
        await makeUpForPausedNight(database, app.queue)
      })
      upkeep.push(schedule)
      await schedule.now()
    }
    const { log, settings } = app
    upkeep.push(await keepNotified(database, settings, { staysOn: keepsSchedule, log }))
    const startOn = (queue: QueueName) =>
      startQueueWorker(app.queue.place, handlers, {
        queue,
        concurrency: JOBS_MIN[queue],
        adjust: (inProgress) => jobsInProgress(queue, inProgress, app.sync.collabApi.concurrency()),
        log,
      })
    for (const queue of ['requests', 'everything'] as const) queueWorkers.push(await startOn(queue))
    const refreshing = refresher && listed(app, { job: REFRESH }, () => refresher.run())
    return {
      /** Starts no more jobs and calls, waits for calls in flight, commits their responses and returns open jobs to the queue. */
      async stop(): Promise<void> {
        app.drain()
        const patience = setTimeout(() => app.abandon(), GRACE_MS)
        await Promise.all([...queueWorkers.map((each) => each.close()), refreshing])
        clearTimeout(patience)
        await stopUpkeep()
      },
    }
  } catch (error) {
    // A remaining timer would keep the process alive, and its heartbeat would report a running worker.
    await stopUpkeep()
    throw error
  }
}

/**
 * The new number of concurrent jobs: one more if no call waits and a permit is free, one less if more wait than that. While the
 * calls are paused, free permits say nothing.
 */
export function jobsInProgress(
  queue: QueueName,
  inProgress: number,
  { permits, limit, waiting, isPaused }: Pick<Load, 'permits' | 'limit' | 'waiting' | 'isPaused'>,
): number {
  if (isPaused) return inProgress
  if (waiting > limit) return Math.max(JOBS_MIN[queue], inProgress - 1)
  if (waiting > 0 || permits >= limit) return inProgress
  return Math.max(JOBS_MIN[queue], Math.min(inProgress + 1, 2 * limit, JOBS_MAX))
}

/** Runs one job; its log lines and its span have its name and ids. */
async function perform(
  app: App,
  { name, job }: { name: string; job: Job },
  delivered: Delivered,
  watch: JobWatch | undefined,
): Promise<unknown> {
  const { runId, itemId } = idsOf(delivered.data)
  const log = app.log.child({ job: name, runId, itemId })
  const attributes = {
    ...(runId === undefined ? {} : { 'collab_sync.run.id': runId }),
    ...(itemId === undefined ? {} : { 'collab_sync.item.id': itemId }),
  }
  const within: App = { ...app, log, sync: { ...app.sync, log } }
  watch?.jobBegun(name)
  try {
    return await listed(app, { job: name, runId, itemId }, () =>
      withSpan(name, attributes, () => job(within, delivered)),
    )
  } finally {
    watch?.jobEnded(name)
  }
}

async function listed<T>(app: App, work: WorkInProgress, run: () => Promise<T>): Promise<T> {
  app.inProgress.add(work)
  try {
    return await run()
  } finally {
    app.inProgress.delete(work)
  }
}

/**
 * Writes the heartbeat and what this worker waits for, ends transactions of frozen workers, and aborts runs that are stopping.
 */
async function writeHeartbeat(
  app: App,
  waiting: ReportedWait | null,
  described: ReturnType<typeof describeProcess> & { settings: string | null },
): Promise<void> {
  const { collabApi, database, deadAfterS, problems, runSignals } = app.sync
  const { inFlight, limit, latencyMsEwma } = collabApi.concurrency()
  await workers.heartbeat.run(database, {
    workerId: app.sync.workerId,
    callsInFlight: inFlight,
    mostCallsInFlight: limit,
    callMs: latencyMsEwma === null ? null : Math.round(latencyMsEwma),
    problem: [problems.queue, problems.service].filter((each) => each !== null).join(' ') || null,
    rateLimit: app.settings.rateLimit ?? null,
    waiting: waiting === null ? null : JSON.stringify(waiting),
    ...described,
  })
  for (const { workerId, pid, state, openS } of await workers.endSessions.all(database, {
    deadAfterS,
  }))
    app.log.warn(
      { workerId, pid, state, openS },
      'ended an open transaction of a worker without a heartbeat',
    )
  for (const { runId } of await runs.readStopping.all(database)) runSignals.abort(runId)
}
