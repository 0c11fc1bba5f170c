import { UnrecoverableError, WaitingError } from 'bullmq'
import type { Job, Worker } from 'bullmq'
import { DrainingError, RunStoppedError, UsageError, WithdrawnError } from '../../base/errors.ts'
import { storable } from '../../schemas/check.ts'
import { printable } from '../../base/printable.ts'
import { shortId } from '../../schemas/format.ts'
import { RepeatedFault } from '../../base/log.ts'
import type { Log } from '../../base/log.ts'
import { openBackend, QUEUE_NAMES } from './backend.ts'
import type { QueueName, QueuePlace } from './backend.ts'
import { inTime, refusalOf } from './queue.ts'

/** A job as its handler receives it. */
export interface Delivered {
  readonly data: unknown
  /** Identifies the request: the same when the queue delivers the job again. */
  readonly requestKey: string
}

/** Does one kind of job; its result is the job's return value. */
export type Handler = (job: Delivered) => Promise<unknown>

export interface WorkerOptions {
  readonly queue: QueueName
  /** Jobs in progress at first. */
  readonly concurrency: number
  /** Called at the end of each job: how many jobs to have in progress from now on. */
  readonly adjust: (inProgress: number) => number
  readonly log: Log
}

/** A job that failed in this worker, and waits for its next try. */
export interface FailedJob {
  /** Which, and how, in half a sentence. */
  readonly failure: string
  readonly runId: string | undefined
  readonly since: Date
  readonly until: Date
}

export type QueueWorker = Awaited<ReturnType<typeof startQueueWorker>>

const LOCK_MS = 15_000
const STALLED_CHECK_MS = 5_000
/** The queue gives up a job whose worker died so often; then the recovery of lost items and the item's attempts decide. */
const STALLS_MAX = 5
const BACKOFF_MAX_MS = 30_000
/** Pauses after an error of the queue, doubled with each: BullMQ retries at once (docs/decisions/2026-11-21-postgresql-queue-or-redis.md). */
const PAUSE_MIN_MS = 500
const PAUSE_MAX_MS = 5_000
const PROBE_MS = 2_000
/** A worker that cannot reach the service takes no job for this time, doubled each time, so that other workers take its jobs. */
const REST_MIN_MS = 5_000
const REST_MAX_MS = 60_000

/**
 * Takes jobs until closed.
 * @param handlers by job name
 * @throws where the queue cannot be reached
 */
export async function startQueueWorker(
  place: QueuePlace,
  handlers: ReadonlyMap<string, Handler>,
  { queue, concurrency, adjust, log }: WorkerOptions,
) {
  const fault = new RepeatedFault(log, 'queue worker')
  const { classes, options, probe, close } = await openBackend(place, 'worker', {
    failed: (error) => fault.failed(error),
    // A server that is connected again may still refuse writes: `problem` checks that.
    recovered: () => {},
  })
  let resuming: NodeJS.Timeout | undefined
  /** Takes no job for this time. @returns false where the worker is paused or closing already */
  const pause = (ms: number): boolean => {
    if (worker.isPaused() || worker.closing !== undefined) return false
    void worker.pause(true)
    resuming = setTimeout(() => void worker.resume(), ms)
    return true
  }
  /** By the id of the job. */
  const failures = new Map<string | undefined, FailedJob>()
  let restMs = REST_MIN_MS
  const rest = (reason: string) => {
    if (!pause(restMs)) return
    log.warn({ reason, restMs }, 'jobs are left to other workers')
    restMs = Math.min(2 * restMs, REST_MAX_MS)
  }
  const worker: Worker = new classes.Worker(
    QUEUE_NAMES[queue],
    async (job, token) => {
      failures.delete(job.id)
      try {
        const result = await work(job as unknown as Job, token, handlers, log, rest)
        restMs = REST_MIN_MS
        return result
      } finally {
        worker.concurrency = adjust(worker.concurrency)
      }
    },
    {
      ...options,
      concurrency,
      // A worker that runs at once would try an unusable place again and again, without a pause.
      autorun: false,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: STALLS_MAX,
      settings: {
        ...options.settings,
        backoffStrategy(attempts, _type, error, job) {
          const ms = backoffMs(attempts)
          const { runId } = idsOf(job?.data)
          const of = runId === undefined ? '' : ` of run ${shortId(runId)}`
          failures.set(job?.id, {
            failure: `job ${job?.name}${of} failed (attempt ${attempts}): ${printable(refusalOf(error))}.`,
            runId,
            since: new Date(),
            until: new Date(Date.now() + ms),
          })
          return ms
        },
      },
    },
  ) as unknown as Worker
  let pauseMs = PAUSE_MIN_MS
  worker.on('error', (error) => {
    fault.failed(error)
    if (pause(pauseMs)) pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)
  })
  worker.on('failed', (job, error) =>
    log.warn({ job: job?.name, ...idsOf(job?.data), err: error }, 'job failed'),
  )
  // `resume` does not wait for `run`, so that its error must be caught here.
  const run = worker.run.bind(worker)
  worker.run = () => run().catch((error: unknown) => fault.failed(error))
  const end = async () => {
    clearTimeout(resuming)
    await worker.close()
    await close()
  }
  try {
    await worker.waitUntilReady()
  } catch (error) {
    await end()
    throw error
  }
  void worker.run()
  let probing: Promise<unknown> | null = null
  return {
    /** Why no job can be taken now, in a sentence; null where jobs can be taken. Takes two seconds at most. */
    async problem(): Promise<string | null> {
      // One probe at a time: a frozen server responds to none.
      probing ??= probe().finally(() => (probing = null))
      try {
        await inTime(probing, PROBE_MS)
      } catch (error) {
        if (worker.closing !== undefined) return null
        // Where the connection is lost, its own error gives the reason.
        if (error instanceof Error && error.name === 'TimeoutError')
          return cannotTakeJobs(place, fault.error ?? error)
        fault.failed(error)
        return cannotTakeJobs(place, error)
      }
      if (worker.isPaused() && fault.error !== null) return cannotTakeJobs(place, fault.error)
      fault.recovered()
      pauseMs = PAUSE_MIN_MS
      return null
    },
    /** A job that failed and is tried again; null without one. */
    failed(): FailedJob | null {
      for (const [id, job] of failures) {
        if (job.until > new Date()) return job
        // Another worker may have taken it.
        failures.delete(id)
      }
      return null
    },
    /** Takes no further job, and resolves when all jobs in progress are done or put back. */
    close: end,
  }
}

function cannotTakeJobs({ kind }: QueuePlace, reason: unknown): string {
  const server = kind === 'redis' ? 'Redis' : 'PostgreSQL'
  return `It cannot take jobs from the queue in ${server}: ${refusalOf(reason)}.`
}

async function work(
  job: Job,
  token: string | undefined,
  handlers: ReadonlyMap<string, Handler>,
  log: Log,
  rest: (reason: string) => void,
): Promise<unknown> {
  const handler = handlers.get(job.name)
  if (handler === undefined) {
    const message = `There is no job named ${JSON.stringify(job.name)}.`
    // A newer version may have jobs of further names for items of runs: its workers try it again.
    throw idsOf(job.data).itemId === undefined
      ? new UnrecoverableError(message)
      : new Error(message)
  }
  try {
    return await handler({
      data: job.data,
      requestKey: `${job.queueName}:${job.id}:${job.timestamp}`,
    })
  } catch (error) {
    if (error instanceof RunStoppedError) return null
    if (error instanceof UsageError) throw new UnrecoverableError(error.message)
    if (error instanceof WithdrawnError) rest(error.message)
    if (error instanceof DrainingError) {
      await job.moveToWait(token)
      throw new WaitingError()
    }
    log.debug({ job: job.name, ...idsOf(job.data), err: error }, 'job attempt failed')
    // PostgreSQL as queue cannot record a message with a NUL or half a surrogate pair, and the job would hang.
    const message = error instanceof Error ? error.message : String(error)
    throw new Error(storable(message), { cause: error })
  }
}

/** What a log may hold of a job's data: other programs enqueue jobs too, with any data. */
export function idsOf(data: unknown): { runId?: string; itemId?: number } {
  const { runId, itemId } = (data ?? {}) as { runId?: unknown; itemId?: unknown }
  return {
    ...(typeof runId === 'string' && /^[\da-f-]{36}$/i.test(runId) ? { runId } : {}),
    ...(typeof itemId === 'number' ? { itemId } : {}),
  }
}

/** Exponential from half a second, capped, with full jitter. */
function backoffMs(attempts: number): number {
  return Math.round(Math.random() * Math.min(BACKOFF_MAX_MS, 500 * 2 ** (attempts - 1)))
}
