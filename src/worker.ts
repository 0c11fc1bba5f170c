import type { App, WorkInProgress } from './app.ts'
import type { Item } from './database/claims.ts'
import * as refresh from './database/statements/refresh.ts'
import * as runs from './database/statements/runs.ts'
import * as workers from './database/statements/workers.ts'
import { RepeatedFault } from './log.ts'
import { keepNotified } from './notify/notifier.ts'
import type { QueueName } from './queue/backend.ts'
import { itemDelivery } from './queue/queue.ts'
import { noteSchedule, registerSchedule } from './queue/schedule.ts'
import { idsOf, startQueueWorker } from './queue/worker.ts'
import type { Delivered, QueueWorker } from './queue/worker.ts'
import { sharedSettings } from './settings/table.ts'
import { Refresher } from './sync/refresh/refresher.ts'
import { Sweep } from './sync/run/settle.ts'
import { findWait, ReportedWaits } from './sync/waits.ts'
import type { ReportedWait } from './sync/waits.ts'
import { outsideTraces, withSpan } from './trace.ts'

/** A kind of job, as `jobs/` lists them. */
interface WorkableJob {
  readonly name: string
  perform(app: App, job: Delivered): Promise<unknown>
}

/** Hears of jobs; must neither throw nor wait. */
export interface JobWatch {
  jobBegun(name: string): void
  jobEnded(name: string): void
}

export interface RunningWorker {
  /**
   * Stops: no further job is taken and no further call begun; calls in flight end, what was answered is committed, and
   * what is left goes back to the queue.
   */
  stop(): Promise<void>
}

/** Batches in hand at a time: enough that the line of calls never runs dry while one of them commits. */
const JOBS_IN_HAND = 8
/** Small organizations have batches of a call or two: then it takes more of them. */
const JOBS_IN_HAND_MAX = 128
const HEARTBEAT_MS = 5_000
const SWEEP_MS = 10_000
/** With the jitter of `every`, calls are written within a second of being sent. */
const WRITE_CALLS_MS = 800
/** What continuous refresh is among the work in progress, beside jobs. */
const REFRESH = 'refresh'
/** Calls in flight get this long to end when the worker stops; the whole stop has a deadline in `src/cli/signals.ts`. */
const GRACE_MS = 5_000

/**
 * Works jobs until stopped, says that it lives, takes up what was lost, and keeps the nightly schedule registered.
 * @param options.keepsSchedule false for `run`, which is not there to stay
 * @param options.watch hears of each job, for metrics
 */
export async function startWorker(
  app: App,
  jobs: readonly WorkableJob[],
  options: { keepsSchedule: boolean; watch?: JobWatch },
): Promise<RunningWorker> {
  return outsideTraces(() => start(app, jobs, options))
}

async function start(
  app: App,
  jobs: readonly WorkableJob[],
  options: { keepsSchedule: boolean; watch?: JobWatch },
): Promise<RunningWorker> {
  const handlers = new Map(
    jobs.map((job) => [job.name, (each: Delivered) => perform(app, job, each, options.watch)]),
  )
  const sweep = new Sweep(app.sync, {
    deliver: (items: readonly Item[]) => app.queue.deliver(items.map(itemDelivery)),
    countPending: () => app.queue.countPending(),
  })
  const { refreshBudget } = app
  const isRefreshing = options.keepsSchedule && refreshBudget !== null
  const refresher = isRefreshing ? new Refresher(app.sync, refreshBudget) : null
  const queueWorkers: QueueWorker[] = []
  const waits = new ReportedWaits(app.log, app.settings.retries)
  const shared = options.keepsSchedule ? JSON.stringify(sharedSettings(app.settings)) : null
  const heartbeat = async () => {
    const problems = await Promise.all(queueWorkers.map((each) => each.problem()))
    app.sync.problems.set('queue', problems.find((problem) => problem !== null) ?? null)
    const wait = findWait(app.sync, {
      hasJobs: [...app.inProgress].some(({ job }) => job !== REFRESH),
      refresh: refresher,
    })
    await writeHeartbeat(app, waits.report(wait), shared)
  }
  await heartbeat()
  const upkeep: { stop(): Promise<void> }[] = [
    every(HEARTBEAT_MS, app, 'heartbeat', heartbeat),
    every(WRITE_CALLS_MS, app, 'counting of calls', () => app.sync.sentCalls.write()),
    every(SWEEP_MS, app, 'recovery of lost items', async () => {
      const { workerId, deadAfterS } = app.sync
      const itemId = refresher?.itemId ?? null
      await refresh.closeItems.run(app.store.database, { workerId, itemId, deadAfterS })
      await sweep.once()
    }),
  ]
  const stopUpkeep = async () => {
    await Promise.all(upkeep.map((each) => each.stop()))
    await app.sync.sentCalls.close()
    const { workerId } = app.sync
    await workers.leave.run(app.store.database, { workerId }).catch(() => {})
  }
  try {
    if (options.keepsSchedule) {
      const keep = async () =>
        registerSchedule(app.queue, await noteSchedule(app.store.database, app.settings))
      const schedule = every(SWEEP_MS, app, 'nightly schedule', keep)
      upkeep.push(schedule)
      await schedule.now()
    }
    upkeep.push(
      await keepNotified(app.store.database, app.settings, {
        staysOn: options.keepsSchedule,
        log: app.log,
      }),
    )
    const startOn = (queue: QueueName) =>
      startQueueWorker(app.queue.place, handlers, {
        queue,
        concurrency: JOBS_IN_HAND,
        adjust: (inProgress) => jobsInProgress(inProgress, app.sync.collabApi.concurrency()),
        log: app.log,
      })
    for (const queue of ['requests', 'everything'] as const) queueWorkers.push(await startOn(queue))
    const refreshing = refresher && listed(app, { job: REFRESH }, () => refresher.run())
    return {
      async stop() {
        app.drain()
        const patience = setTimeout(() => app.abandon(), GRACE_MS)
        await Promise.all([...queueWorkers.map((each) => each.close()), refreshing])
        clearTimeout(patience)
        await stopUpkeep()
      },
    }
  } catch (error) {
    // A timer that is left would keep the process, and a heartbeat say that it works.
    await stopUpkeep()
    throw error
  }
}

/**
 * How many jobs to have in hand from now on: one more where calls could be made and none waits, one less where a whole round
 * of calls waits.
 * @param concurrency calls in flight, most of them, and those that wait
 */
export function jobsInProgress(
  inProgress: number,
  { inFlight, limit, waiting }: { inFlight: number; limit: number; waiting: number },
): number {
  if (waiting > limit) return Math.max(JOBS_IN_HAND, inProgress - 1)
  if (waiting > 0 || inFlight >= limit) return inProgress
  return Math.min(inProgress + 1, Math.max(JOBS_IN_HAND, Math.min(2 * limit, JOBS_IN_HAND_MAX)))
}

/** One job: its lines of log and its span name it and the ids that it is about. */
async function perform(
  app: App,
  job: WorkableJob,
  delivered: Delivered,
  watch: JobWatch | undefined,
): Promise<unknown> {
  const { runId, itemId } = idsOf(delivered.data)
  const log = app.log.child({ job: job.name, runId, itemId })
  const attributes = {
    ...(runId === undefined ? {} : { 'collab_sync.run.id': runId }),
    ...(itemId === undefined ? {} : { 'collab_sync.item.id': itemId }),
  }
  const within: App = { ...app, log, sync: { ...app.sync, log } }
  watch?.jobBegun(job.name)
  try {
    return await listed(app, { job: job.name, runId, itemId }, () =>
      withSpan(job.name, attributes, () => job.perform(within, delivered)),
    )
  } finally {
    watch?.jobEnded(job.name)
  }
}

/** Lists work among what is in progress while it runs. */
async function listed<T>(app: App, work: WorkInProgress, run: () => Promise<T>): Promise<T> {
  app.inProgress.add(work)
  try {
    return await run()
  } finally {
    app.inProgress.delete(work)
  }
}

/**
 * Says that this worker lives and what it waits for, ends what a frozen one holds up, and hears the lowest limit and which
 * runs are to end early.
 */
async function writeHeartbeat(
  app: App,
  waiting: ReportedWait | null,
  settings: string | null,
): Promise<void> {
  const { collabApi, database, deadAfterS, problems, runSignals } = app.sync
  const { inFlight, limit, latencyMsEwma } = collabApi.concurrency()
  await workers.heartbeat.run(database, {
    workerId: app.sync.workerId,
    callsInFlight: inFlight,
    mostCallsInFlight: limit,
    callMs: latencyMsEwma === null ? null : Math.round(latencyMsEwma),
    problem: problems.text,
    rateLimit: app.settings.rateLimit ?? null,
    waiting: waiting === null ? null : JSON.stringify(waiting),
    settings,
  })
  await app.followRateLimit()
  for (const { workerId, pid, state, openS } of await workers.endSessions.all(database, {
    deadAfterS,
  }))
    app.log.warn(
      { workerId, pid, state, openS },
      'a worker without a heartbeat held a transaction open: it was ended',
    )
  for (const { runId } of await runs.readStopping.all(database)) runSignals.abort(runId)
}

/** Does something now and then, one at a time, until stopped; a failure is logged, and the next time comes all the same. */
function every(
  ms: number,
  { log }: App,
  what: string,
  work: () => Promise<void>,
): { now(): Promise<void>; stop(): Promise<void> } {
  const fault = new RepeatedFault(log, what)
  let running: Promise<void> | null = null
  const now = () =>
    (running ??= work()
      .then(
        () => fault.recovered(),
        (error: unknown) => fault.failed(error),
      )
      .finally(() => (running = null)))
  // Jitter, so that workers started together do not all come at once.
  const timer = setInterval(() => void now(), ms * (0.9 + Math.random() * 0.2))
  return {
    now,
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
