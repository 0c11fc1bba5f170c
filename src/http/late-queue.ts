import { setTimeout as sleep } from 'node:timers/promises'
import { EnvironmentError } from '../errors.ts'
import type { Log } from '../log.ts'
import { QUEUE_NAME, migrateQueue } from '../queue/backend.ts'
import type { QueuePlace } from '../queue/backend.ts'
import { openQueue } from '../queue/queue.ts'
import type { JobQueue } from '../queue/queue.ts'

/** A queue that may not be there yet. */
export interface LateQueue extends JobQueue {
  /** Gives it a moment to open; resolves in any case. */
  wait(): Promise<void>
}

const PAUSE_MS = 2_000
const WAIT_MS = 2_000

/**
 * A queue that need not be there yet: it is opened as soon as Redis or PostgreSQL is, and until then everything that
 * is asked of it fails with an EnvironmentError. Once open it comes back by itself.
 */
export function openQueueLate(place: QueuePlace, log: Log): LateQueue {
  const closing = new AbortController()
  let queue: JobQueue | null = null
  const opening = openWhenThere(place, log, closing.signal).then((opened) => (queue = opened))
  const opened = (): JobQueue => {
    if (queue === null) throw new EnvironmentError('The queue does not answer yet.')
    return queue
  }
  return {
    place,
    bull: lateBull(() => queue?.bull ?? null),
    deliver: async (jobs) => opened().deliver(jobs),
    countPending: async () => opened().countPending(),
    async wait() {
      const patience = new AbortController()
      const late = sleep(WAIT_MS, undefined, { signal: patience.signal }).catch(() => {})
      await Promise.race([opening, late]).finally(() => patience.abort())
    },
    async close() {
      closing.abort()
      await (await opening)?.close()
    },
  }
}

/** @returns null where it is closed before it could be opened */
async function openWhenThere(
  place: QueuePlace,
  log: Log,
  closing: AbortSignal,
): Promise<JobQueue | null> {
  let said = ''
  while (!closing.aborted) {
    try {
      await migrateQueue(place, closing)
      return await openQueue(place, log)
    } catch (error) {
      const reason = (error as Error).message
      if (reason !== said) log.warn({ reason }, 'the queue cannot be opened yet; trying again')
      said = reason
    }
    await sleep(PAUSE_MS, undefined, { signal: closing }).catch(() => {})
  }
  return null
}

/** BullMQ's queue, for those who hold it before it is there: by its name alone until then. */
function lateBull(find: () => JobQueue['bull'] | null): JobQueue['bull'] {
  return new Proxy({} as JobQueue['bull'], {
    get(_target, member) {
      const bull = find()
      if (bull !== null) {
        const value: unknown = Reflect.get(bull, member, bull)
        return typeof value === 'function' ? value.bind(bull) : value
      }
      // What Bull Board looks at when it is told of a queue.
      if (member === 'name') return QUEUE_NAME
      if (member === 'metaValues') return { version: 'bullmq' }
      throw new EnvironmentError('The queue does not answer yet.')
    },
  })
}
