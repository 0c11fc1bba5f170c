import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'
import { LogController } from 'fastify'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import type { SharedCollabSync } from '../client/collab-sync.ts'
import type { Database } from '../core/database/pool.ts'
import type { Log } from '../base/log.ts'
import { pages } from './pages/pages.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import type { Settings } from '../settings/table.ts'
import { metrics } from './serve-metrics.ts'
import { errorResponses } from './error-response.ts'
import { openAuthentication } from './auth/authentication.ts'
import { signIn } from './auth/sign-in.ts'
import { addBase, routedPath } from './base-path.ts'
import { bullBoard } from './bull-board.ts'
import { addOpenApi } from './openapi.ts'
import { openReadiness, probes } from './probes.ts'
import { pathOf, ProblemError } from './problem.ts'
import { listRoutes, methodsOf, requireRights } from './route-table.ts'
import type { Route } from './route-table.ts'
import { v1 } from './v1/v1.ts'

/** What the HTTP server uses. The caller closes it after the server. */
export interface HttpParts {
  readonly settings: Settings
  readonly store: { readonly database: Database }
  readonly queue: JobQueue
  readonly collabSync: SharedCollabSync
  readonly log: Log
}

/** A server that does not listen yet, and its routes. */
export type HttpServer = Awaited<ReturnType<typeof createServer>>

const BODY_BYTES_MAX = 1024 * 1024
const HEADER_BYTES_MAX = 16 * 1024
/** Time limits for receiving a whole request and its headers, so that a slow sender cannot hold a connection. */
const REQUEST_MS = 30_000
const HEADERS_MS = 10_000
/** How often Node compares connections with these limits. */
const CHECK_TIMES_MS = 1_000

/** Creates the server: the authentication first, then the routes behind it. */
export async function createServer(parts: HttpParts) {
  const { settings, store, queue, collabSync, log } = parts
  const { httpBasePath: base = '' } = settings
  const readiness = openReadiness({ database: store.database, settings, queue, log })
  const respondToError = errorResponses({ readiness, log })
  const app = Fastify({
    loggerInstance: log.child({ part: 'http' }, { level: 'warn' }) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_MS,
    rewriteUrl: ({ url = '/' }) => routedPath(base, url),
    keepAliveTimeout: settings.httpKeepAliveS * 1000,
    http: {
      headersTimeout: HEADERS_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      connectionsCheckingInterval: CHECK_TIMES_MS,
    },
    routerOptions: { maxParamLength: HEADER_BYTES_MAX },
    // Only these proxies may set the address of a client.
    trustProxy: settings.httpTrustedProxies,
  })
  // Fastify also parses plain text, which no route accepts.
  app.removeContentTypeParser('text/plain')
  acceptEmptyBodies(app)
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  const routes = listRoutes(app)
  app.setErrorHandler(respondToError)
  app.setNotFoundHandler((request) => {
    throw notFound(routes, pathOf(request))
  })
  await addSecurityHeaders(app)
  addBase(app, base)
  await app.register(cookie)
  await app.register(rateLimit, {
    global: false,
    errorResponseBuilder: (_request, { after }) =>
      new ProblemError(429, `Too many requests. Retry in ${after}.`) as never,
  })
  const authentication = openAuthentication(app, settings.httpToken, store.database)
  // Sends the response here, because a plugin can have an error handler of its own for its routes.
  app.addHook('onRequest', (request, reply) =>
    authentication
      .check(request)
      .catch((problem: unknown) => respondToError(problem, request, reply)),
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
  await app.register(bullBoard, { prefix: '/queues', queue, readiness })
  const { lock } = authentication
  await app.register(pages, { collabSync, database: store.database, settings, lock })
  await app.ready()
  requireRights(routes)
  return { app, routes }
}

/**
 * Clients that are generated send `Content-Type: application/json` with every request. An empty body is then no body, and no
 * body is `{}` where a route has members that are all optional.
 */
function acceptEmptyBodies(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    (request, body, done) => (body === '' ? done(null, undefined) : parseJson(request, body, done)),
  )
  app.addHook('preValidation', async (request) => {
    if (request.routeOptions.schema?.body !== undefined) request.body ??= {}
  })
}

function notFound(routes: readonly Route[], path: string): ProblemError {
  const methods = methodsOf(routes, path)
  if (methods.length === 0) return new ProblemError(404, 'No resource has this path.')
  return new ProblemError(405, `This path accepts only ${methods.join(', ')}.`, {
    headers: { allow: methods.join(', ') },
  })
}

/** Pages load files of this server only, and contain no script or style. Bull Board needs its `<base>`. */
const POLICY = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'form-action': ["'self'"],
  'frame-ancestors': ["'none'"],
  'base-uri': ["'self'"],
}

/** Adds the headers that restrict browsers to every response. Only routes that say so allow caching. */
async function addSecurityHeaders(app: FastifyInstance): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: POLICY },
    referrerPolicy: { policy: 'same-origin' },
    frameguard: { action: 'deny' },
    // The proxy in front ends TLS, and sets this header.
    strictTransportSecurity: false,
  })
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
}
