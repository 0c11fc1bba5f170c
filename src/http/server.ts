import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'
import { LogController } from 'fastify'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import type { SharedCollabSync } from '../client/collab-sync.ts'
import type { Database } from '../core/database/pool.ts'
import { ID_BYTES_MAX } from '../documents/check.ts'
import type { Log } from '../base/log.ts'
import { pages } from './pages/pages.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import type { Settings } from '../settings/table.ts'
import { metrics } from './serve-metrics.ts'
import { answerBrokenRequest, errorAnswers } from './answer-error.ts'
import { openAuthentication } from './auth/authentication.ts'
import { sessionKey } from './auth/sessions.ts'
import { signIn } from './auth/sign-in.ts'
import { addBase, pageUnder, withoutBase } from './base-path.ts'
import { bullBoard } from './bull-board.ts'
import { addOpenApi } from './openapi.ts'
import { openReadiness, probes } from './probes.ts'
import { pathOf, ProblemError } from './problem.ts'
import { listRoutes, methodsOf, requireRights } from './route-table.ts'
import type { Route } from './route-table.ts'
import { v1 } from './v1/v1.ts'

/** What the HTTP side works with; all of it stays open when the server closes. */
export interface HttpParts {
  readonly settings: Settings
  readonly store: { readonly database: Database }
  readonly queue: JobQueue
  readonly collabSync: SharedCollabSync
  readonly log: Log
}

/** A server that listens nowhere yet, and its routes. */
export interface HttpServer {
  readonly app: FastifyInstance
  readonly routes: readonly Route[]
}

const BODY_BYTES_MAX = 1024 * 1024
const HEADER_BYTES_MAX = 16 * 1024
/** An id of {@link ID_BYTES_MAX} bytes, each of them percent-encoded. */
const PARAMETER_CHARACTERS_MAX = 3 * ID_BYTES_MAX
/** A request has to be here by then, its headers sooner: a slow sender must not hold a connection. */
const REQUEST_MS = 30_000
const HEADERS_MS = 10_000

/** Puts the HTTP side together: the authentication first, then everything behind it. */
export async function createServer(parts: HttpParts): Promise<HttpServer> {
  const { settings, store, queue, collabSync, log } = parts
  const { httpBasePath: base = '' } = settings
  const readiness = openReadiness({ database: store.database, settings, queue, log })
  const answerError = errorAnswers({ readiness, log })
  const app = Fastify({
    loggerInstance: log.child({ part: 'http' }, { level: 'warn' }) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_MS,
    rewriteUrl: ({ url = '/' }) => withoutBase(base, url),
    keepAliveTimeout: settings.httpKeepAliveS * 1000,
    http: { headersTimeout: HEADERS_MS, maxHeaderSize: HEADER_BYTES_MAX },
    routerOptions: { maxParamLength: PARAMETER_CHARACTERS_MAX },
    // A path that cannot be read reaches no hook, so it is brought to the authentication here.
    frameworkErrors(error, request, reply) {
      guardUnhooked(reply)
      void authentication
        .check(request)
        .then(() => Promise.reject(error))
        .catch((problem: unknown) => answerError(problem, request, reply))
    },
    clientErrorHandler: answerBrokenRequest,
    // Whose request it is, these proxies say; anybody else could say anything.
    trustProxy: settings.httpTrustedProxies,
  })
  // Fastify reads plain text too, which nothing here is asked with.
  app.removeContentTypeParser('text/plain')
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  const routes = listRoutes(app)
  app.setErrorHandler(answerError)
  app.setNotFoundHandler((request) => {
    throw notFound(routes, pathOf(request))
  })
  await addSecurityHeaders(app)
  addBase(app, base)
  const { httpToken: token } = settings
  await app.register(cookie, token === undefined ? {} : { secret: sessionKey(token) })
  await app.register(rateLimit, {
    global: false,
    errorResponseBuilder: (_request, { after }) =>
      new ProblemError(429, `Too many at a time; try again in ${after}.`) as never,
  })
  const authentication = openAuthentication(app, { token, database: store.database })
  // Answered here, whoever answers the errors of the route behind it.
  app.addHook('onRequest', (request, reply) =>
    authentication.check(request).catch((problem: unknown) => answerError(problem, request, reply)),
  )
  app.addHook('onResponse', async (request, { statusCode, elapsedTime }) => {
    const { method, routeOptions } = request
    log.debug({ method, path: routeOptions.url, status: statusCode, ms: elapsedTime }, 'http')
  })
  await app.register(probes, { readiness })
  await app.register(signIn, { authentication })
  await addOpenApi(app)
  await app.register(v1, { prefix: '/v1', collabSync })
  await app.register(metrics, { database: store.database, queue })
  await app.register(bullBoard, { prefix: '/queues', queue })
  await app.register(pages, { collabSync, database: store.database, settings })
  await app.ready()
  requireRights(routes)
  return { app, routes }
}

function notFound(routes: readonly Route[], path: string): ProblemError {
  const methods = methodsOf(routes, path)
  if (methods.length === 0) return new ProblemError(404, 'There is nothing at this path.')
  return new ProblemError(405, `This path can be asked with ${methods.join(', ')}.`, {
    headers: { allow: methods.join(', ') },
  })
}

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

/** Gives an answer that no hook sees (to a path which cannot be read) the headers that matter most, and its page the base. */
function guardUnhooked(reply: FastifyReply): void {
  reply.serializer((page: string) => pageUnder(reply.server.basePath, page))
  const policy = Object.entries(POLICY).map(([name, sources]) => [name, ...sources].join(' '))
  reply.headers({
    'content-security-policy': policy.join(';'),
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
  })
}

/** Has every answer carry what browsers should hold it to. Nothing is kept in caches unless its route says so. */
async function addSecurityHeaders(app: FastifyInstance): Promise<void> {
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
