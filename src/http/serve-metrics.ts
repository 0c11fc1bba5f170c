import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import type { Database } from '../core/database/pool.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import {
  addProcessMetrics,
  readQueue,
  readSignals,
  serviceRegistry,
} from '../worker/telemetry/service-registry.ts'

/** Scrapes that come sooner get the same numbers. */
const FRESH_MS = 5_000
/** PostgreSQL or a queue that does not answer by then counts as away: Prometheus gives up after ten seconds. */
const ANSWER_MS = 3_000

/** `GET /metrics`: runs, freshness, what waits, the queue, and this process. A Fastify plugin; put it behind authentication. */
export async function metrics(
  app: FastifyInstance,
  { database, queue }: { database: Database; queue: JobQueue },
): Promise<void> {
  const ofProcess = new Registry()
  addProcessMetrics(ofProcess)
  const readStored = boundedReader(() => readSignals(database))
  const readQueued = boundedReader(() => readQueue(queue))
  const readState = rarely(async () => {
    const [stored, queued] = await Promise.all([readStored(), readQueued()])
    return serviceRegistry({ stored, queue: queued }).metrics()
  })
  app.get('/metrics', { config: { right: 'read' } }, async (_request, reply) => {
    const texts = await Promise.all([readState(), ofProcess.metrics()])
    return reply.type(ofProcess.contentType).send(texts.join('\n'))
  })
}

/** Reads anew when what was read has aged, once for all who ask meanwhile. */
function rarely(read: () => Promise<string>): () => Promise<string> {
  let reading: Promise<string> | null = null
  let untilMs = 0
  return () => {
    if (reading === null || performance.now() > untilMs) {
      untilMs = Infinity
      reading = read().finally(() => (untilMs = performance.now() + FRESH_MS))
    }
    return reading
  }
}

/** Null where it fails, or takes too long: what is wrong is said by the readiness probe. One that hangs is not joined by more. */
function boundedReader<T>(read: () => Promise<T>): () => Promise<T | null> {
  let reading: Promise<T | null> | null = null
  return () => {
    reading ??= read()
      .catch(() => null)
      .finally(() => (reading = null))
    return Promise.race([reading, sleep(ANSWER_MS, null, { ref: false })])
  }
}
