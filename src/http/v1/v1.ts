import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { ProblemError } from '../problem.ts'
import { catalogRoutes } from './catalog-routes.ts'
import { listingRoutes } from './listing-routes.ts'
import type { V1Options } from './operation.ts'
import { runEventsRoute } from './run-events.ts'
import { hintRoute, runRoutes } from './run-routes.ts'
import { scheduleRoutes } from './schedule-routes.ts'
import { settleRoutes } from './settle-routes.ts'
import { thingRoutes } from './thing-routes.ts'

/** An answer takes milliseconds; one that takes this long waits for something that is away. */
const HANDLER_MS = 20_000

/** The API, version 1; a Fastify plugin. */
export async function v1(app: FastifyInstance, options: V1Options): Promise<void> {
  app.addHook('onRoute', (route) => {
    if (route.config?.takesLong !== true) route.handlerTimeout ??= HANDLER_MS
  })
  // Without a schema for a body there is nothing that one could say.
  app.addHook('preValidation', async (request) => {
    const { body } = request
    const isEmpty = body == null || ['{}', '[]'].includes(JSON.stringify(body))
    if (request.routeOptions.schema?.body === undefined && !isEmpty)
      throw new ProblemError(400, 'The operation takes no body.', {
        errors: [{ in: 'body', member: '', detail: 'must be left out' }],
      })
  })
  const typed = app.withTypeProvider<ZodTypeProvider>()
  for (const addRoutes of [
    runRoutes,
    runEventsRoute,
    hintRoute,
    listingRoutes,
    thingRoutes,
    settleRoutes,
    catalogRoutes,
    scheduleRoutes,
  ]) {
    addRoutes(typed, options)
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for operations that may take longer than others. */
    takesLong?: true
  }
}
