import type { Queue } from 'bullmq'
import { EnvironmentError } from '../../base/errors.ts'
import { RepeatedFault } from '../../base/log.ts'
import type { Log } from '../../base/log.ts'
import type { Item } from '../database/claims.ts'
import type { QueueName, QueuePlace } from './backend.ts'

/** A job to deliver: its name is one of `jobs/index.ts`, its data is ids and nothing else. */
export interface Delivery {
  readonly queue: QueueName
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
  /** One job a key: the same key again is ignored while that job exists. */
  readonly key: string
  /** 0 is served first. */
  readonly priority: number
}

/** The queue, as all other folders use it. */
export interface JobQueue {
  readonly place: QueuePlace
  /** BullMQ's own, for its schedulers and its dashboard. */
  readonly bull: Readonly<Record<QueueName, Queue>>
  /** Enqueues jobs. PostgreSQL stores all pending items, so that a job that is lost here is enqueued again. */
  deliver(jobs: readonly Delivery[]): Promise<void>
  /** Counts the jobs that wait or are in progress, without the next nightly one. */
  countPending(): Promise<number>
  close(): Promise<void>
}

const CHUNK_JOBS = 500
const ANALYZE_FROM_JOBS = 500
/** With the pauses between them (worker.ts), about ten minutes; then the recovery of lost items enqueues the item again. */
const ATTEMPTS = 25

/**
 * Opens the queue. On PostgreSQL its schema must be there (`migrateQueue`).
 * @throws EnvironmentError where Redis or PostgreSQL cannot be reached; UsageError for a prefix that does not fit a cluster
 */
export async function openQueue(place: QueuePlace, log: Log): Promise<JobQueue> {
  // BullMQ is large: only commands that open a queue load it.
  const { openBackend, QUEUE_NAMES, requireRedis } = await import('./backend.ts')
  await requireRedis(place)
  const fault = new RepeatedFault(log, 'queue connection')
  const { classes, options, analyze, close } = await openBackend(place, 'producer', fault)
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
      for (const name of ['requests', 'everything'] as const) {
        const added = jobs.filter(({ queue }) => queue === name).map(toBullJob)
        while (added.length > 0) await bull[name].addBulk(added.splice(0, CHUNK_JOBS))
      }
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

function toBullJob({ name, data, key, priority }: Delivery) {
  return {
    name,
    data,
    opts: {
      jobId: key,
      priority,
      attempts: ATTEMPTS,
      backoff: { type: 'custom' },
      // A job that is kept would block its key.
      removeOnComplete: true,
      removeOnFail: true,
    },
  }
}

/** An item of a run as a job: ids only. */
export function itemDelivery({ runId, itemId, kind, round, isScoped }: Item): Delivery {
  return {
    queue: isScoped ? 'requests' : 'everything',
    name: kind,
    data: { runId, itemId },
    key: `item-${itemId}`,
    priority: round,
  }
}

/** Why the queue refused, without the line of BullMQ's script that Redis adds. */
export function refusalOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'no response in time'
  // A replica refuses a write, and ioredis then reconnects. Which of the two a command meets depends on the moment.
  if (error.message.startsWith('READONLY '))
    return 'READONLY: Redis is a replica, or no longer the primary'
  if (error.message.startsWith("Stream isn't writeable"))
    return 'the connection was closed: Redis restarts, or is no longer the primary'
  return error.message.replace(/\.?( script: .*)?$/s, '')
}

/** Waits for a queue that may hang. @throws the error of `work`, or a TimeoutError where it takes longer */
export async function inTime<T>(work: Promise<T>, maxMs: number): Promise<T> {
  const late = AbortSignal.timeout(maxMs)
  const tooLate = new Promise<never>((_, reject) =>
    late.addEventListener('abort', () => reject(late.reason)),
  )
  return Promise.race([work, tooLate])
}
