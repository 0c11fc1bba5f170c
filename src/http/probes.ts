import type { FastifyInstance } from 'fastify'
import type { ReadinessLook } from './readiness.ts'

/**
 * What a platform asks, without a token: whether the process lives, and whether it can do its work. A Fastify plugin.
 */
export async function probes(
  app: FastifyInstance,
  { readiness }: { readiness: ReadinessLook },
): Promise<void> {
  const options = { config: { right: 'none' } } as const
  app.get('/healthz', options, async () => ({ status: 'ok' }))
  app.get('/readyz', options, async (_request, reply) => {
    const { postgresql, queue } = await readiness.look()
    const isReady = postgresql === null && queue === null
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      postgresql: postgresql ?? 'ready',
      queue: queue ?? 'ready',
    })
  })
}
