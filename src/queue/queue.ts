import type { Queue } from 'bullmq'
import { EnvironmentError } from '../errors.ts'
import { RepeatedFault } from '../log.ts'
import type { Log } from '../log.ts'
import type { QueueName, QueuePlace } from './backend.ts'
import { repeatStrategy } from './repeat-strategy.ts'

/** A job to deliver: its name says which file of `jobs/` works it, its data is ids and nothing else. */
export interface Delivery {
  readonly queue: QueueName
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
  /** One job a key: the same key again is ignored while that job exists. */
  readonly key: string
  /** 0 is served first. */
  readonly priority: number
}

/** The queue as everybody but `src/queue` sees it. */
export interface JobQueue {
  readonly place: QueuePlace
  /** BullMQ's own, for its schedulers and its dashboard. */
  readonly bull: Readonly<Record<QueueName, Queue>>
  /** Hands jobs to the queue. PostgreSQL knows what is to be done, so one that is lost here is handed over again. */
  deliver(jobs: readonly Delivery[]): Promise<void>
  /** Jobs that are waiting or in hand, the next nightly one left out. */
  countPending(): Promise<number>
  close(): Promise<void>
}

const CHUNK_JOBS = 500
const ANALYZE_FROM_JOBS = 500
/** With the pauses between them (worker.ts), about ten minutes; then `sweep` hands the item over anew. */
const ATTEMPTS = 25

/**
 * Opens the queue. On PostgreSQL its schema must be there (`migrateQueue`).
 * @throws EnvironmentError where Redis or PostgreSQL cannot be reached; UsageError for a prefix that does not fit a cluster
 */
export async function openQueue(place: QueuePlace, log: Log): Promise<JobQueue> {
  // BullMQ, which is large, is loaded by those alone who open a queue.
  const { openBackend, QUEUE_NAMES, requireRedis, telemetryOption } = await import('./backend.ts')
  await requireRedis(place)
  const fault = new RepeatedFault(log, 'queue connection')
  const { classes, analyze, close, ...backend } = await openBackend(place, 'producer', fault)
  const options = { ...backend.options, ...(await telemetryOption()), settings: { repeatStrategy } }
  const open = (name: QueueName) => {
    const queue = new classes.Queue(QUEUE_NAMES[name], options) as unknown as Queue
    queue.on('error', (error) => fault.failed(error))
    return queue
  }
  const bull = { requests: open('requests'), everything: open('everything') }
  const queues = Object.values(bull)
  try {
    await Promise.all(queues.map((queue) => queue.waitUntilReady()))
  } catch (error) {
    await Promise.all(queues.map((queue) => queue.close().catch(() => {})))
    await close()
    throw new EnvironmentError(
      `The queue cannot be used: ${(error as Error).message}. Run \`collab-sync migrate\`.`,
      { cause: error },
    )
  }
  return {
    place,
    bull,
    async deliver(jobs) {
      for (const name of ['requests', 'everything'] as const)
        await addInChunks(
          bull[name],
          jobs.filter(({ queue }) => queue === name),
        )
      if (jobs.length >= ANALYZE_FROM_JOBS) await analyze()
    },
    async countPending() {
      const counts = await Promise.all(
        queues.map((queue) => queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed')),
      )
      const all = counts.flatMap(Object.values<number>).reduce((sum, count) => sum + count, 0)
      return all - (await bull.requests.getJobSchedulersCount())
    },
    async close() {
      await Promise.all(queues.map((queue) => queue.close()))
      await close()
    },
  }
}

/** So long is the job of {@link tryOut} no worker's; one that is left behind is taken by a worker then, and removed. */
const TRY_OUT_DELAY_MS = 60_000

/** Adds a job to each queue and removes it again. @throws what the queue's place answers */
export async function tryOut({ bull }: JobQueue): Promise<void> {
  const options = {
    jobId: `doctor-${process.pid}`,
    delay: TRY_OUT_DELAY_MS,
    removeOnComplete: true,
    removeOnFail: true,
  }
  for (const queue of Object.values(bull)) await (await queue.add('doctor', {}, options)).remove()
}

async function addInChunks(bull: Queue, jobs: readonly Delivery[]): Promise<void> {
  for (let start = 0; start < jobs.length; start += CHUNK_JOBS) {
    await bull.addBulk(jobs.slice(start, start + CHUNK_JOBS).map(toBullJob))
  }
}

function toBullJob({ name, data, key, priority }: Delivery) {
  return {
    name,
    data,
    opts: {
      jobId: key,
      priority,
      attempts: ATTEMPTS,
      backoff: { type: 'custom' },
      // A job that is kept would block its key, and PostgreSQL keeps what matters.
      removeOnComplete: true,
      removeOnFail: true,
    },
  }
}

/** An item of a run as a job: ids only. */
export function itemDelivery(item: {
  runId: string
  itemId: number
  kind: string
  round: number
  isNarrow: boolean
}): Delivery {
  const { runId, itemId, kind, round, isNarrow } = item
  return {
    queue: isNarrow ? 'requests' : 'everything',
    name: kind,
    data: { runId, itemId },
    key: `item-${itemId}`,
    priority: round,
  }
}

/** Why the queue refused, without the place in a script of BullMQ that Redis adds. */
export function refusalOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'no response in time'
  // ioredis, after the reply to an earlier command made it reconnect.
  if (error.message.startsWith("Stream isn't writeable"))
    return 'the connection was closed: Redis restarts, or is no longer the primary'
  return error.message.replace(/\.?( script: .*)?$/s, '')
}

/** What is asked of a queue that may hang. @throws its own error, or a TimeoutError where it takes longer */
export async function inTime<T>(asked: Promise<T>, maxMs: number): Promise<T> {
  const late = AbortSignal.timeout(maxMs)
  const tooLate = new Promise<never>((_, reject) =>
    late.addEventListener('abort', () => reject(late.reason)),
  )
  return Promise.race([asked, tooLate])
}
