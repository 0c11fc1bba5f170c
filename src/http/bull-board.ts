import type { AppControllerRoute } from '@bull-board/api/typings/app'
import type { FastifyInstance } from 'fastify'
import { codeOf } from '../core/database/connection-errors.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import type { ReadinessCheck } from './probes.ts'
import { ProblemError } from './problem.ts'

/**
 * Bull Board for the queues, if it is installed. It is read-only, because its buttons (retry, remove, empty) would change
 * deliveries only, while PostgreSQL stores the work. Register it with a prefix, behind the authentication, in a scope
 * without `@fastify/static`.
 * @param options.readiness says that the queue does not respond; the page itself would show no queue
 * @param options.load imports the two packages
 */
export async function bullBoard(
  scope: FastifyInstance,
  {
    queue,
    readiness,
    load = loadBullBoard,
  }: { queue: JobQueue; readiness: ReadinessCheck; load?: typeof loadBullBoard },
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
  /** Registers only the routes that read. */
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
  scope.addHook('preHandler', async () => {
    const { queue: problem } = await readiness()
    if (problem !== null) throw new ProblemError(503, problem, { away: ['queue'] })
    const adapters = Object.values(queue.bull).map((bull) => {
      const adapter = new BullMQAdapter(bull, { readOnlyMode: true })
      adapter.setFormatter('data', idsOf)
      return adapter
    })
    setQueues(adapters)
  })
  // The error handler of the server responds.
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
  hideRedisDetails: true,
  showWorkers: false,
  hideDocsLink: true,
  // The way back. It is relative to the page's <base>, which has HTTP_BASE_PATH.
  miscLinks: [{ text: 'collab-sync', url: '..' }],
}

/** The members of this program's jobs. Jobs of other programs can contain anything. */
function idsOf(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return {}
  const shown = Object.entries(data).filter(([name]) => ['runId', 'itemId', 'scope'].includes(name))
  return Object.fromEntries(shown)
}

/** The page without a font of a third party and without inline styles, which the policy forbids. */
function withoutStrangers(page: string): string {
  return page
    .replace(/<link href="https:[^>]*>/g, '')
    .replace(/<style>.*?<\/style>/gs, '')
    .replace(/ style="[^"]*"/g, '')
}
