import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import type { AppControllerRoute } from '@bull-board/api/typings/app'
import { FastifyAdapter } from '@bull-board/fastify'
import type { FastifyPluginAsync } from 'fastify'
import type { JobQueue } from '../core/queue/queue.ts'

/**
 * What the page of Bull Board needs of a content security policy: as our own pages, and the `<base>` that its relative
 * addresses start from.
 */
export const BULL_BOARD_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Bull Board for the queues, to look at and not to touch: what its buttons do (retry, remove, empty) is done to deliveries
 * only, of which PostgreSQL keeps the truth, so that they would help nobody. To be registered with a prefix, behind the
 * authentication, in a scope without `@fastify/static` of its own. It asks nothing of the queue before a page is looked at.
 * @param queue on Redis or PostgreSQL
 */
export function bullBoard({ bull }: JobQueue): FastifyPluginAsync {
  return async (scope) => {
    const queues = Object.values(bull).map((each) => {
      const queue = new BullMQAdapter(each, { readOnlyMode: true })
      queue.setFormatter('data', idsOf)
      return queue
    })
    const board = new LookOnly().setBasePath(scope.prefix)
    createBullBoard({ queues, serverAdapter: board, options: { uiConfig: UI } })
    // Errors are answered in one place, by the server that this is a part of.
    board.setErrorHandler((error) => {
      throw error
    })
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, right: 'admin' }
    })
    scope.addHook('onSend', async (_request, reply, payload) => {
      if (!String(reply.getHeader('content-type')).startsWith('text/html')) return payload
      reply.header('content-security-policy', BULL_BOARD_CSP)
      return typeof payload === 'string' ? withoutStrangers(payload) : payload
    })
    await scope.register(board.registerPlugin())
  }
}

const UI = {
  boardTitle: 'collab-sync queue',
  // What the server is, and who is connected to it, is nothing that this page is for.
  hideRedisDetails: true,
  showWorkers: false,
} as const

/** Registers the routes that only read: what changes something is not there to be asked. */
class LookOnly extends FastifyAdapter {
  override setApiRoutes(routes: AppControllerRoute[]): FastifyAdapter {
    return super.setApiRoutes(routes.filter(({ method }) => method === 'get'))
  }
}

/** What jobs of ours hold. Other programs put jobs into the queue too, and these may hold anything. */
function idsOf(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return {}
  const shown = Object.entries(data).filter(([name]) => ['runId', 'itemId', 'scope'].includes(name))
  return Object.fromEntries(shown)
}

/** The page without the font of a third party, and without styles in the page, which our policy forbids. */
function withoutStrangers(page: string): string {
  return page
    .replace(/<link href="https:[^>]*>/g, '')
    .replace(/<style>.*?<\/style>/gs, '')
    .replace(/ style="[^"]*"/g, '')
}
