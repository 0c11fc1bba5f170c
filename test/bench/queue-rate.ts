import { randomBytes } from 'node:crypto'
import { createLog } from '../../src/base/log.ts'
import { migrateQueue } from '../../src/core/queue/backend.ts'
import type { QueuePlace } from '../../src/core/queue/backend.ts'
import { openQueue } from '../../src/core/queue/queue.ts'
import { startQueueWorker } from '../../src/core/queue/worker.ts'
import type { QueueKind } from './program.ts'
import { createBenchDatabase } from './database.ts'
import type { Servers } from './servers.ts'

const JOBS = 3000
const IN_HAND = 8

/** Jobs a second that one worker can take and end where there is nothing to do in them: what the queue itself bears. */
export async function emptyJobsASecond(servers: Servers, kind: QueueKind): Promise<number> {
  const database = await createBenchDatabase(servers, null)
  const place: QueuePlace =
    kind === 'redis'
      ? {
          kind,
          url: servers.redisUrl as string,
          prefix: `bench-${randomBytes(6).toString('hex')}`,
        }
      : { kind, url: database.url }
  try {
    await migrateQueue(place)
    return await rateOf(place)
  } finally {
    await database.drop()
  }
}

async function rateOf(place: QueuePlace): Promise<number> {
  const log = createLog('warn')
  const queue = await openQueue(place, log)
  const jobs = Array.from({ length: JOBS }, (_, number) => ({
    queue: 'requests' as const,
    name: 'empty',
    data: { number },
    key: `empty-${number}`,
    priority: 0,
  }))
  await queue.deliver(jobs)
  let left = JOBS
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const startedMs = performance.now()
  const worker = await startQueueWorker(
    place,
    new Map([
      [
        'empty',
        async () => {
          left -= 1
          if (left === 0) end()
          return null
        },
      ],
    ]),
    { queue: 'requests', concurrency: IN_HAND, adjust: (inProgress) => inProgress, log },
  )
  await ended
  const seconds = (performance.now() - startedMs) / 1000
  await worker.close()
  await queue.close()
  return JOBS / seconds
}
