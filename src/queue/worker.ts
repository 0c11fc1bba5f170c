import { UnrecoverableError, WaitingError } from 'bullmq'
import type { Job, Worker } from 'bullmq'
import { DrainingError, RunStoppedError, UsageError } from '../errors.ts'
import type { Log } from '../log.ts'
import { openBackend, QUEUE_NAMES, telemetryOption } from './backend.ts'
import type { QueueName, QueuePlace } from './backend.ts'
import { repeatStrategy } from './repeat-strategy.ts'

/** A job as its handler sees it. */
export interface Delivered {
  readonly data: unknown
  /** Names this delivery's request: the same when the queue delivers it again. */
  readonly requestKey: string
}

/** Works one kind of job; what it returns is the job's return value. */
export type Handler = (job: Delivered) => Promise<unknown>

export interface WorkerOptions {
  readonly queue: QueueName
  /** Jobs in hand at a time. Each keeps its own calls waiting in line, so that calls never wait for a job. */
  readonly concurrency: number
  /** Asked at the end of each job: how many to have in hand from now on. */
  readonly adjust: (inProgress: number) => number
  readonly log: Log
}

export interface QueueWorker {
  /** Takes no further job, and resolves when those in hand are done or put back. */
  close(): Promise<void>
}

const LOCK_MS = 15_000
const STALLED_CHECK_MS = 5_000
/** A job whose worker dies so often is given up by the queue; `sweep` and the item's own count take over. */
const STALLS_MAX = 5
const BACKOFF_MAX_MS = 30_000

/**
 * Works jobs until closed.
 * @param handlers by job name
 * @throws where the queue cannot be reached
 */
export async function startQueueWorker(
  place: QueuePlace,
  handlers: ReadonlyMap<string, Handler>,
  { queue, concurrency, adjust, log }: WorkerOptions,
): Promise<QueueWorker> {
  const { classes, worker: connection, close } = openBackend(place)
  const worker: Worker = new classes.Worker(
    QUEUE_NAMES[queue],
    async (job, token) => {
      try {
        return await work(job as unknown as Job, token, handlers, log)
      } finally {
        worker.concurrency = adjust(worker.concurrency)
      }
    },
    {
      ...connection,
      ...(await telemetryOption()),
      concurrency,
      // One that finds its place unusable would ask again at once, without an end.
      autorun: false,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: STALLS_MAX,
      settings: { backoffStrategy: (attempts: number) => backoffMs(attempts), repeatStrategy },
    },
  ) as unknown as Worker
  worker.on('error', (error) => log.warn({ err: error }, 'queue worker'))
  worker.on('failed', (job, error) =>
    log.warn({ job: job?.name, ...idsOf(job?.data), err: error }, 'job failed'),
  )
  const end = async () => {
    await worker.close()
    await close()
  }
  try {
    await worker.waitUntilReady()
  } catch (error) {
    await end()
    throw error
  }
  worker.run().catch((error: unknown) => log.warn({ err: error }, 'queue worker'))
  return { close: end }
}

async function work(
  job: Job,
  token: string | undefined,
  handlers: ReadonlyMap<string, Handler>,
  log: Log,
): Promise<unknown> {
  const handler = handlers.get(job.name)
  if (handler === undefined) {
    throw new UnrecoverableError(`There is no job named ${JSON.stringify(job.name)}.`)
  }
  try {
    return await handler({
      data: job.data,
      requestKey: `${job.queueName}:${job.id}:${job.timestamp}`,
    })
  } catch (error) {
    if (error instanceof RunStoppedError) return null
    if (error instanceof UsageError) throw new UnrecoverableError(error.message)
    if (error instanceof DrainingError) {
      await job.moveToWait(token)
      throw new WaitingError()
    }
    log.debug({ job: job.name, ...idsOf(job.data), err: error }, 'job attempt failed')
    throw storable(error)
  }
}

/** What a log may hold of a job's data: other programs put jobs into the queue too, with anything in them. */
export function idsOf(data: unknown): { runId?: string; itemId?: number } {
  const { runId, itemId } = (data ?? {}) as { runId?: unknown; itemId?: unknown }
  return {
    ...(typeof runId === 'string' && /^[\da-f-]{36}$/i.test(runId) ? { runId } : {}),
    ...(typeof itemId === 'number' ? { itemId } : {}),
  }
}

/** PostgreSQL as queue cannot record a message with a NUL or half a surrogate pair, and the job would hang. */
function storable(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return Object.assign(new Error(message.replaceAll('\0', '').toWellFormed()), { cause: error })
}

/** Exponential from half a second, capped, with full jitter. */
function backoffMs(attempts: number): number {
  return Math.round(Math.random() * Math.min(BACKOFF_MAX_MS, 500 * 2 ** (attempts - 1)))
}
