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
import { sharedRead } from './probes.ts'

/** Scrapes within this time share one read. */
const FRESH_MS = 5_000
/** Time limit of a read. Prometheus gives up after ten seconds. */
const RESPONSE_MS = 3_000

/** `GET /metrics`: runs, freshness, open problems, the queue, and this process. A Fastify plugin. */
export async function metrics(
  app: FastifyInstance,
  { database, queue }: { database: Database; queue: JobQueue },
): Promise<void> {
  const ofProcess = new Registry()
  addProcessMetrics(ofProcess)
  const limits = { freshMs: FRESH_MS, maxMs: RESPONSE_MS }
  const readStored = sharedRead(() => readSignals(database), limits)
  const readQueued = sharedRead(() => readQueue(queue), limits)
  app.get('/metrics', { config: { right: 'read' } }, async (_request, reply) => {
    // The readiness probe reports why something cannot be read.
    const reads = [readStored().catch(() => null), readQueued().catch(() => null)] as const
    const [stored, queued] = await Promise.all(reads)
    const ofService = serviceRegistry({ stored, queue: queued })
    const texts = await Promise.all([ofService.metrics(), ofProcess.metrics()])
    return reply.type(ofProcess.contentType).send(texts.join('\n'))
  })
}
