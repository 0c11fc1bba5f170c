import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'

/** What our pages may load: our own files and nothing else, and no script or style within a page. */
const POLICY = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'form-action': ["'self'"],
  'frame-ancestors': ["'none'"],
  'base-uri': ["'none'"],
}

/** Has every answer carry what browsers should hold it to. Nothing is kept in caches unless its route says so. */
export async function addSecurityHeaders(app: FastifyInstance): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: POLICY },
    referrerPolicy: { policy: 'same-origin' },
    frameguard: { action: 'deny' },
    // TLS ends before us: who ends it says so.
    strictTransportSecurity: false,
  })
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
}
