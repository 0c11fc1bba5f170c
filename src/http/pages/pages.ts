import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import { waiting } from '../../core/database/statements/pages.ts'
import { WAITING_MOST } from './layout.tsx'
import { actionRoutes } from './actions/routes.tsx'
import { heldRoutes } from './waiting.tsx'
import { historyRoutes } from './history.tsx'
import { notificationRoutes } from './notifications.tsx'
import { organizationRoutes } from './organizations.tsx'
import { overviewRoutes } from './overview/overview.tsx'
import type { Lock } from '../auth/tokens.ts'
import type { PageContext } from './page-context.ts'
import { changesPageRoutes } from './runs/changes-page.tsx'
import { failuresPageRoutes } from './runs/failures-page.tsx'
import { runListRoutes } from './runs/run-list.tsx'
import { runPageRoutes } from './runs/run-page.tsx'
import { scheduleRoutes } from './schedule.tsx'
import { staticRoutes } from './static/files.ts'
import { searchRoutes } from './things/search-page.tsx'
import { thingRoutes } from './things/thing-page.tsx'
import { tokenRoutes } from './tokens.tsx'
import { workerRoutes } from './workers.tsx'

/**
 * The operators' pages, as a Fastify plugin. The server checks tokens and origins, sets the headers and handles errors.
 */
export async function pages(
  app: FastifyInstance,
  { lock, ...context }: PageContext & { lock: Lock | null },
): Promise<void> {
  await app.register(formbody)
  app.decorateReply('hasSignOut', context.settings.httpToken !== undefined)
  staticRoutes(app)
  app.addHook('preHandler', async (request) => {
    // Other requests get a file or a redirect.
    if (request.method === 'GET' && request.routeOptions.config.right !== 'none')
      request.waiting = (await waiting.one(context.database, { most: WAITING_MOST + 1 })).waiting
  })
  overviewRoutes(app, context)
  runListRoutes(app, context)
  runPageRoutes(app, context)
  failuresPageRoutes(app, context)
  changesPageRoutes(app, context)
  organizationRoutes(app, context)
  thingRoutes(app, context)
  searchRoutes(app, context)
  heldRoutes(app, context)
  scheduleRoutes(app, context)
  workerRoutes(app, context)
  historyRoutes(app, context)
  notificationRoutes(app, context)
  tokenRoutes(app, context, lock)
  actionRoutes(app, context)
}
