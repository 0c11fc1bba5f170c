import { ProblemError } from '../problem.ts'
import { catalogRoutes } from './catalog-routes.ts'
import { listingRoutes } from './listing-routes.ts'
import type { V1App, V1Options } from './operation.ts'
import { runEventsRoute } from './run-events.ts'
import { runRoutes } from './run-routes.ts'
import { scheduleRoutes } from './schedule-routes.ts'
import { paceRoutes } from './pace-routes.ts'
import { resolveRoutes } from './resolve-routes.ts'
import { thingRoutes } from './thing-routes.ts'

/** A response takes milliseconds, unless PostgreSQL or the queue is unreachable. */
const HANDLER_MS = 20_000

/** The API, version 1; a Fastify plugin. */
export async function v1(app: V1App, options: V1Options): Promise<void> {
  app.addHook('onRoute', (route) => {
    if (route.config?.takesLong !== true) route.handlerTimeout ??= HANDLER_MS
    // The OpenAPI document groups operations by the first part of their path.
    if (route.schema) route.schema.tags = [route.url.split('/')[2] ?? '']
  })
  // An operation without a schema for the body takes none.
  app.addHook('preValidation', async (request) => {
    const { body } = request
    const isEmpty = body == null || ['{}', '[]'].includes(JSON.stringify(body))
    if (request.routeOptions.schema?.body === undefined && !isEmpty)
      throw new ProblemError(400, 'The operation takes no body.', {
        errors: [{ in: 'body', member: '', detail: 'must be left out' }],
      })
  })
  runRoutes(app, options)
  runEventsRoute(app, options)
  listingRoutes(app, options)
  thingRoutes(app, options)
  resolveRoutes(app, options)
  catalogRoutes(app, options)
  scheduleRoutes(app, options)
  paceRoutes(app, options)
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for operations without a time limit. */
    takesLong?: true
  }
}
