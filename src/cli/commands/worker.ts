import { setTimeout as sleep } from 'node:timers/promises'
import { jobs } from '../../../jobs/index.ts'
import { openApp } from '../../worker/app.ts'
import type { App, AppWatch } from '../../worker/app.ts'
import { onAbort } from '../../base/abort.ts'
import { checkDatabase } from '../../core/database/connection-errors.ts'
import { EnvironmentError, SchemaError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { misspeltSettings } from '../../settings/near-names.ts'
import { readSettings } from '../../settings/settings.ts'
import type { ServiceSettings } from '../../settings/settings.ts'
import type { Settings } from '../../settings/table.ts'
import type { Store } from '../../worker/store.ts'
import type { MetricsListener, WorkerMetrics } from '../../worker/telemetry/worker-metrics.ts'
import { startWorker } from '../../worker/worker.ts'
import { EXIT } from '../exit.ts'
import { onStopDeadline, stopOnSignals } from '../signals.ts'
import { commandLog, withServiceStore } from '../with-store.ts'

/** How long a worker waits for PostgreSQL, Redis and the tables, because machines start in any order. */
const PATIENCE_MS = 60_000
const PAUSE_MS = 2_000

/** `collab-sync worker`: processes jobs until SIGTERM or SIGINT, and keeps the nightly schedule registered. */
export async function worker(): Promise<number> {
  const settings = readSettings(process.env, { need: ['service', 'database', 'queue'] })
  const log = commandLog(settings.logLevel)
  for (const problem of misspeltSettings(process.env)) log.warn(problem)
  let app: App | null = null
  let isAbandoned = false
  const stop = stopOnSignals(
    (signal) => log.info({ signal }, 'stopping: finishing the calls in progress'),
    (signal) => {
      log.warn({ signal }, 'stopping now: work in progress returns to the queue')
      isAbandoned = true
      app?.abandon()
    },
  )
  onStopDeadline((signal, problem) => {
    const inProgress = [...(app?.inProgress ?? [])]
    log.warn({ signal, inProgress }, problem)
    return isAbandoned || inProgress.length > 0 ? EXIT.failed : EXIT.done
  })
  await withServiceStore(settings, { log, stop, name: 'worker' }, async (store) => {
    const metrics = await openMetrics(settings)
    try {
      app = await openPatiently(settings, store, log, stop.starting, metrics?.watch)
      stop.starting.throwIfAborted()
      stop.started()
      await work(app, stop.requested, metrics)
    } finally {
      await app?.close()
    }
  })
  return isAbandoned ? EXIT.failed : EXIT.done
}

async function work(app: App, stopping: AbortSignal, metrics: WorkerMetrics | null): Promise<void> {
  const listener = metrics === null ? null : await showMetrics(app, metrics)
  try {
    const watching = metrics === null ? {} : { watch: metrics.watch }
    const running = await startWorker(app, jobs, { keepsSchedule: true, ...watching })
    app.log.info({ workerId: app.sync.workerId, queue: app.store.queuePlace.kind }, 'working')
    try {
      await new Promise<void>((resolve) => onAbort(stopping, resolve))
    } finally {
      await running.stop()
    }
  } finally {
    await listener?.close()
  }
}

/** Loads the code of metrics only if METRICS_PORT is set. */
async function openMetrics(settings: Settings): Promise<WorkerMetrics | null> {
  if (settings.metricsPort === undefined) return null
  const { createWorkerMetrics } = await import('../../worker/telemetry/worker-metrics.ts')
  return createWorkerMetrics()
}

async function showMetrics(app: App, metrics: WorkerMetrics): Promise<MetricsListener> {
  const { metricsHost: host, metricsPort: port = 0 } = app.settings
  const { listenForMetrics } = await import('../../worker/telemetry/worker-metrics.ts')
  metrics.readConcurrency(() => app.sync.collabApi.concurrency())
  const listener = await listenForMetrics(metrics.registry, { host, port })
  app.log.info({ address: listener.url }, 'metrics')
  return listener
}

/** @throws the last error; the reason of the signal */
async function openPatiently(
  settings: Settings & ServiceSettings,
  store: Store,
  log: Log,
  signal: AbortSignal,
  watch: AppWatch | undefined,
): Promise<App> {
  const giveUpAtMs = performance.now() + PATIENCE_MS
  for (;;) {
    signal.throwIfAborted()
    try {
      await checkDatabase(store.database)
      return await openApp(settings, store, log, watch)
    } catch (error) {
      const isLasting = error instanceof SchemaError && !error.isPending
      if (!(error instanceof EnvironmentError) || isLasting || performance.now() > giveUpAtMs)
        throw error
      log.warn({ reason: error.message }, 'cannot start yet; retrying')
    }
    await sleep(PAUSE_MS, undefined, { signal })
  }
}
