import type { App } from './app.ts'
import type { Item } from './database/items.ts'
import { readSetSchedule } from './database/schedule.ts'
import { readStoppingRuns } from './database/runs.ts'
import { forgetWorker, writeHeartbeat } from './database/workers.ts'
import { itemDelivery } from './queue/deliveries.ts'
import { registerSchedule, unregisterSchedule } from './queue/schedule.ts'
import { startQueueWorker } from './queue/worker.ts'
import type { Delivered } from './queue/worker.ts'
import { Sweep } from './sync/sweep.ts'

/** A kind of job, as `jobs/` lists them. */
interface WorkableJob {
  readonly name: string
  perform(app: App, job: Delivered): Promise<unknown>
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
const HEARTBEAT_MS = 5_000
const SWEEP_MS = 10_000
/** Calls in flight get this long to end when the worker stops. */
const GRACE_MS = 10_000

/**
 * Works jobs until stopped, says that it lives, takes up what was lost, and keeps the nightly schedule registered.
 * @param options.keepsSchedule false for `run`, which is not there to stay
 */
export async function startWorker(
  app: App,
  jobs: readonly WorkableJob[],
  options: { keepsSchedule: boolean },
): Promise<RunningWorker> {
  const handlers = Object.fromEntries(
    jobs.map((job) => [job.name, (delivered: Delivered) => job.perform(app, delivered)]),
  )
  const sweep = new Sweep(app.sync, {
    deliver: (items: readonly Item[]) => app.queue.deliver(items.map(itemDelivery)),
    countPending: () => app.queue.countPending(),
  })
  await beat(app)
  const heartbeat = every(HEARTBEAT_MS, app, () => beat(app))
  const upkeep = every(SWEEP_MS, app, async () => {
    await sweep.once()
    if (options.keepsSchedule) await keepSchedule(app)
  })
  if (options.keepsSchedule) await keepSchedule(app)
  const queueWorker = await startQueueWorker(app.queue.place, handlers, {
    concurrency: JOBS_IN_HAND,
    log: app.log,
  })
  return {
    async stop() {
      app.drain()
      const patience = setTimeout(() => app.abandon(), GRACE_MS)
      await queueWorker.close()
      clearTimeout(patience)
      await Promise.all([heartbeat.stop(), upkeep.stop()])
      await forgetWorker(app.store.database, app.sync.workerId).catch(() => {})
    },
  }
}

/** Says that this worker lives, and hears which runs are to end early. */
async function beat(app: App): Promise<void> {
  const { inFlight, limit, latencyMsEwma } = app.sync.collabApi.pace()
  await writeHeartbeat(app.store.database, {
    workerId: app.sync.workerId,
    callsInFlight: inFlight,
    callsLimit: limit,
    latencyMs: latencyMsEwma === null ? null : Math.round(latencyMsEwma),
  })
  for (const runId of await readStoppingRuns(app.store.database)) app.sync.runSignals.abort(runId)
}

/** What a person set holds for all workers; without it the settings do. */
async function keepSchedule(app: App): Promise<void> {
  const set = await readSetSchedule(app.store.database)
  const cron = set === null ? app.settings.cron : set.cron
  if (cron === null) return unregisterSchedule(app.queue)
  await registerSchedule(app.queue, { cron, timeZone: set?.timeZone ?? app.settings.timeZone })
}

/** Does something now and then until stopped; a failure is logged, and the next time comes all the same. */
function every(ms: number, app: App, work: () => Promise<void>): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve()
  // Jitter, so that workers started together do not all come at once.
  const timer = setInterval(
    () => {
      running = running.then(work).catch((error: unknown) => app.log.warn({ err: error }, 'upkeep'))
    },
    ms * (0.9 + Math.random() * 0.2),
  )
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
