import { jobs } from '../../../jobs/index.ts'
import type { App } from '../../worker/app.ts'
import { isHandedOver } from '../../client/runs.ts'
import type { NewRun } from '../../core/database/runs.ts'
import { processUser } from '../../base/process-user.ts'
import { onAbort } from '../../base/abort.ts'
import { stopRun } from '../../core/run/stop.ts'
import { startRun } from '../../core/run/start.ts'
import type { StartedRun } from '../../core/run/start.ts'
import { outsideTraces } from '../../base/trace.ts'
import { startWorker } from '../../worker/worker.ts'
import { exitCodeOf, reportNothingFails } from '../exit.ts'
import { note, noteNotDelivered, print } from '../output.ts'
import { followRun, progressStyle } from '../progress.ts'
import type { ProgressStyle } from '../progress.ts'
import { printRun } from '../run-details.ts'
import { checkRequest, requestOf } from '../requested-scope.ts'
import type { RequestOptions } from '../scope-options.ts'
import { onSignals, stopOnSignals } from '../signals.ts'
import { withApp } from '../with-store.ts'

/** `collab-sync run`: starts a run, executes it in this process and prints its summary. */
export async function run(options: RequestOptions & { json?: boolean }): Promise<number> {
  checkRequest(options)
  const stop = stopOnSignals(() => {})
  const command = { name: 'run', creates: true, isTraced: true, signal: stop.starting }
  return withApp(command, async (app) => {
    const request = await requestOf(app.store.database, options)
    stop.starting.throwIfAborted()
    // From now on, a signal cancels the run.
    stop.forget()
    const runId = await workOff(app, request, progressStyle(options))
    const { status } = await printRun(app.store.database, runId, options)
    return exitCodeOf(status)
  }).catch((error: unknown) => {
    stop.starting.throwIfAborted()
    return reportNothingFails(error, { ...options, say: print })
  })
}

/**
 * Starts a run and processes jobs, beside other workers, until it is finished. The first SIGINT or SIGTERM cancels the run; a second
 * one also aborts the calls in flight.
 * @returns the ID of the run
 * @throws UsageError if the scope does not exist; no run was started
 */
export async function workOff(app: App, request: NewRun, style: ProgressStyle): Promise<string> {
  const stopping = new AbortController()
  const forget = onSignals(
    (signal) => {
      note(`${signal}: cancelling the run. Data already written is kept.`)
      stopping.abort()
    },
    () => app.abandon(),
  )
  try {
    const started = await startRun(app.sync, request)
    onAbort(stopping.signal, () => cancel(app, started.runId))
    await workUntilFinished(app, started, style)
    return started.runId
  } finally {
    forget()
  }
}

async function workUntilFinished(
  app: App,
  { runId, items }: StartedRun,
  style: ProgressStyle,
): Promise<void> {
  try {
    const worker = await startWorker(app, jobs, { keepsSchedule: false })
    try {
      // If the queue does not accept them, this or another worker enqueues them later.
      await isHandedOver(app.queue, items, noteNotDelivered)
      await outsideTraces(() => followRun(app.store.database, runId, { style }))
    } finally {
      await worker.stop()
    }
  } catch (error) {
    // There may be no other worker to finish it.
    const problem = 'The process that executed the run failed.'
    await stopRun(app.sync, runId, 'failed', problem).catch(() => {})
    throw error
  }
}

function cancel(app: App, runId: string): void {
  stopRun(app.sync, runId, 'cancelled', 'It was cancelled by a signal to its process.', {
    by: processUser(),
  }).catch((error: unknown) => app.log.warn({ err: error }, 'the run could not be cancelled'))
}
