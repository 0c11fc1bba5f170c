import type { AppControllerRoute } from '@bull-board/api/typings/app'
import type { FastifyInstance } from 'fastify'
import { codeOf } from '../core/database/connection-errors.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import { ProblemError } from './problem.ts'

/**
 * Bull Board for the queues, where it is installed: read-only, because its buttons (retry, remove, empty) change deliveries
 * only, and PostgreSQL decides what is done. Register it with a prefix, behind the authentication, in a scope without
 * `@fastify/static` of its own. It reads the queue only for a request.
 * @param options.load imports the two packages
 */
export async function bullBoard(
  scope: FastifyInstance,
  { queue, load = loadBullBoard }: { queue: JobQueue; load?: typeof loadBullBoard },
): Promise<void> {
  scope.addHook('onRoute', (route) => {
    route.config = { ...route.config, right: 'admin' }
  })
  const installed = await load().catch((error: unknown) => {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    return null
  })
  if (installed === null) {
    scope.get('/', () => {
      throw new ProblemError(404, NOT_INSTALLED)
    })
    return
  }
  const { createBullBoard, BullMQAdapter, FastifyAdapter } = installed
  /** Registers the routes that only read. */
  class ReadOnlyAdapter extends FastifyAdapter {
    override setApiRoutes(routes: AppControllerRoute[]): this {
      return super.setApiRoutes(routes.filter(({ method }) => method === 'get')) as this
    }
  }
  const board = new ReadOnlyAdapter().setBasePath(scope.prefix)
  const { setQueues } = createBullBoard({
    queues: [],
    serverAdapter: board,
    options: { uiConfig: UI },
  })
  // The queue may open after the server. Until then it throws here, and the server reports that it is unavailable.
  scope.addHook('preHandler', async () => {
    const adapters = Object.values(queue.bull).map((bull) => {
      const adapter = new BullMQAdapter(bull, { readOnlyMode: true })
      adapter.setFormatter('data', idsOf)
      return adapter
    })
    setQueues(adapters)
  })
  // Errors are answered in one place, by the server that this is a part of.
  board.setErrorHandler((error) => {
    throw error
  })
  scope.addHook('onSend', async (_request, reply, payload) => {
    if (!String(reply.getHeader('content-type')).startsWith('text/html')) return payload
    return typeof payload === 'string' ? withoutStrangers(payload) : payload
  })
  await scope.register(board.registerPlugin())
}

const NOT_INSTALLED =
  'Bull Board is not installed: run `npm install @bull-board/api@9 @bull-board/fastify@9` beside collab-sync, and restart `serve`.'

async function loadBullBoard() {
  const [{ createBullBoard }, { BullMQAdapter }, { FastifyAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/fastify'),
  ])
  return { createBullBoard, BullMQAdapter, FastifyAdapter }
}

const UI = {
  boardTitle: 'collab-sync queue',
  // What the server is, and who is connected to it, is nothing that this page is for.
  hideRedisDetails: true,
  showWorkers: false,
} as const

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
