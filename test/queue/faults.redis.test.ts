import { jobs } from '../../jobs/index.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { openLive } from '../helpers/live.ts'
import { describe, expect, test } from 'vitest'
import { pino } from 'pino'
import { requireRedis } from '../../src/core/queue/backend.ts'
import { openRedis } from '../../src/core/queue/redis.ts'
import { openQueue } from '../../src/core/queue/queue.ts'
import type { Delivery } from '../../src/core/queue/queue.ts'
import { startQueueWorker } from '../../src/core/queue/worker.ts'
import type { QueueWorker } from '../../src/core/queue/worker.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { openOwnRedis } from '../helpers/own-redis.ts'
import type { OwnRedis } from '../helpers/own-redis.ts'
import { redisUrl } from '../helpers/redis.ts'
import { startRelay } from '../helpers/relay.ts'
import { until } from '../helpers/until.ts'

/** What a worker of the queue does while its Redis is another server, refuses, or does not respond. */

interface Line {
  readonly level: number
  readonly msg: string
  readonly times?: number
}

/** A worker and a producer at an address. */
async function startAt(url: string) {
  const lines: Line[] = []
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
  const place = { kind: 'redis', url, prefix: 'x' } as const
  const done: unknown[] = []
  const queue = await openQueue(place, log)
  closedAtEnd(() => queue.close())
  const worker = await startQueueWorker(
    place,
    new Map([['job', async ({ data }) => done.push(data)]]),
    { queue: 'requests', concurrency: 2, adjust: (inProgress) => inProgress, log },
  )
  closedAtEnd(() => worker.close())
  const messages = () => lines.map(({ msg }) => msg)
  return { queue, worker, done, lines, messages }
}

async function ownRedis(): Promise<OwnRedis> {
  const redis = await openOwnRedis()
  closedAtEnd(() => redis.close())
  return redis
}

function job(key: string): Delivery {
  return { queue: 'requests', name: 'job', data: { key }, key, priority: 0 }
}

/** @returns the number of clients when a worker waits for jobs, with all its connections open */
async function connections(redis: OwnRedis): Promise<number> {
  const clients = () => redis.command('client', 'list')
  await until('the worker waits for jobs', async () => (await clients()).includes('cmd=bzpopmin'))
  return (await clients()).trim().split('\n').length
}

/** BullMQ cannot close a worker one of whose connections is between two tries to reconnect. */
async function areConnected(redis: OwnRedis, count: number): Promise<void> {
  await until('all are connected again', async () => {
    const clients = await redis.command('client', 'list')
    return clients.trim().split('\n').length >= count
  })
}

function hasProblem(worker: QueueWorker, problem: RegExp): Promise<boolean> {
  return until(`the worker reports ${problem}`, async () =>
    problem.test((await worker.problem()) ?? 'none'),
  )
}

describe.skipIf(!redisUrl())('a worker of the queue', () => {
  // That it takes jobs again: test/faults/servers.soak.test.ts. BullMQ waits 5 s after its blocking connection is lost.
  test('reaches the new primary after its own became a replica, as the producer and the rate limit do', async () => {
    const [old, next] = [await ownRedis(), await ownRedis()]
    const relay = await startRelay(old.url)
    const url = `redis://127.0.0.1:${relay.port}`
    const { queue, worker } = await startAt(url)
    const limit = openRedis(url, {}, { failed() {}, recovered() {} })
    closedAtEnd(async () => limit.disconnect())
    await Promise.all([limit.set('limit', 1), queue.deliver([job('before')])])
    expect(await worker.problem()).toBe(null)
    const connected = await connections(old)

    await old.command('replicaof', '127.0.0.1', new URL(next.url).port)
    relay.leadTo(next.url)

    await until('the worker writes', async () => (await worker.problem()) === null)
    await until('the producer writes', () =>
      queue.deliver([job('after')]).then(
        () => true,
        () => null,
      ),
    )
    await until('the rate limit writes', () => limit.set('limit', 2).catch(() => null))
    expect(await next.command('get', 'limit')).toBe('2')
    await areConnected(next, connected)
  })

  test('pauses while Redis is full, logs it once, and continues by itself', async () => {
    const redis = await ownRedis()
    const { queue, worker, done, lines, messages } = await startAt(redis.url)
    await worker.close()
    await queue.deliver([job('waits')])
    await redis.command('config', 'set', 'maxmemory', '1')
    const full = await startAt(redis.url)
    await hasProblem(
      full.worker,
      /^It cannot take jobs from the queue in Redis: OOM .*'maxmemory'\.$/,
    )
    await redis.command('config', 'set', 'maxmemory', '0')
    await until('the job is done', () => full.done.length > 0)
    await until('the worker has no problem', async () => (await full.worker.problem()) === null)
    expect(full.messages()).toEqual(['queue worker fails', 'queue worker works again'])
    // BullMQ alone retries at once (docs/decisions/2026-11-21-postgresql-queue-or-redis.md).
    expect(full.lines[1]?.times).toBeLessThan(50)
    expect([done, lines, messages()]).toEqual([[], [], []])
  })

  test('gives the reason of a Redis that takes no client', async () => {
    const redis = await ownRedis()
    const { url } = redis
    await redis.command('config', 'set', 'maxclients', '1')
    const taken = openRedis(url, {}, { failed() {}, recovered() {} })
    closedAtEnd(async () => taken.disconnect())
    await taken.ping()
    await expect(requireRedis({ kind: 'redis', url, prefix: 'x' })).rejects.toThrow(
      'Redis cannot be used: ERR max number of clients reached.',
    )
  })

  test('reports a Redis that does not respond', async () => {
    const redis = await ownRedis()
    const { worker } = await startAt(redis.url)
    expect(await worker.problem()).toBe(null)
    redis.freeze()
    closedAtEnd(async () => redis.wake())
    expect(await worker.problem()).toBe(
      'It cannot take jobs from the queue in Redis: no response in time.',
    )
    redis.wake()
    await until('the worker has no problem', async () => (await worker.problem()) === null)
  })

  test('reports a Redis that is gone, and leaves its errors to the log', async () => {
    const redis = await ownRedis()
    const { worker, messages } = await startAt(redis.url)
    const connected = await connections(redis)
    await redis.kill()
    await hasProblem(worker, /ECONNREFUSED/)
    expect(messages().toSorted()).toEqual(['queue connection fails', 'queue worker fails'])
    await redis.start()
    await until('the worker has no problem', async () => (await worker.problem()) === null)
    await areConnected(redis, connected)
  })

  test('starts while Redis is full, where the nightly schedule cannot be registered yet', async () => {
    const redis = await ownRedis()
    const live = await openLive('redis', { settings: { REDIS_URL: redis.url } })
    const app = await live.openApp()
    await redis.command('config', 'set', 'maxmemory', '1')
    const worker = await startWorker(app, jobs, { keepsSchedule: true })
    expect((await live.database.pool.query('select from sync.workers')).rowCount).toBe(1)
    await worker.stop()
  })
})
